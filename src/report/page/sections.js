// ---- tables

const MAX_TABLE = 100;
function table(columns, list, { open, order, group } = {}) {
  let sorted = list, by = order ?? -1, down = true, most = MAX_TABLE;
  const body = el('tbody'), head = el('tr');
  const render = () => {
    if (by >= 0) { const key = columns[by].key ?? columns[by].value; sorted = [...list].sort((a, b) => { const x = key(a) ?? '', y = key(b) ?? ''; return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1); }); }
    let before;
    const lines = sorted.slice(0, most).flatMap(item => {
      const head = group && by < 0 ? group(item) : undefined, isNew = head !== before;
      before = head;
      return [...(isNew ? [el('tr', { class: 'group' }, el('th', { colspan: columns.length, scope: 'rowgroup' }, head))] : []), rowOfTable(item)];
    });
    function rowOfTable(item) { return el('tr', open ? { tabindex: 0, on: { click: () => open(item), keydown: event => { if (event.key === 'Enter') open(item); } } } : {},
      columns.map(column => el('td', { 'data-name': column.name, class: `${column.number ? 'n ' : ''}${column.keep ? 'keep ' : ''}${column.wide ? 'wide ' : ''}${column.style?.(item) ?? ''}` }, column.value(item) ?? ''))); }
    if (list.length > most) lines.push(el('tr', { class: 'rest' }, el('td', { colspan: columns.length }, el('button', { type: 'button', on: { click: () => { most = Infinity; render(); } } }, `and ${number(list.length - most)} more`))));
    body.replaceChildren(...lines);
    [...head.children].forEach((cell, index) => { if (index === by) cell.setAttribute('aria-sort', down ? 'descending' : 'ascending'); else cell.removeAttribute('aria-sort'); });
  };
  columns.forEach((column, index) => head.append(el('th', { class: column.number ? 'n' : '', 'data-name': column.name }, el('button', { type: 'button', on: { click: () => { down = by === index ? !down : true; by = index; render(); } } }, column.name))));
  render();
  return el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, head), body));
}
const section = (id, title, count, ...children) => el('section', { id }, el('h2', {}, title, ' ', el('small', {}, count === undefined ? '' : number(count))), children);
const half = node => { node.classList.add('half'); return node; };
const none = text => el('p', { class: 'note' }, text);
const tableOr = (text, columns, list, options) => list.length ? table(columns, list, options) : none(isFiltered() ? 'None that match the filter.' : text);
const decisionPills = lane => Object.entries(lane.decisions).map(([name, n]) => pill(name, `${number(n)} ${words(name)}`));
const numeric = (name, key, show = number) => ({ name, number: true, value: item => { const value = key(item); return typeof value === 'number' && Number.isFinite(value) ? show(value) : '–'; }, key: item => key(item) ?? 0 });

// ---- sections

// What became of an agent: that it never stopped matters more than what was decided before.
function verdict(lane) {
  if (lane.state === 'never_stopped' || lane.state === 'running' || !lane.verdict) return STATES[lane.state] && el('span', { class: `pill ${STATES[lane.state][1]}` }, stateOf(lane));
  return el('span', { class: `pill ${lane.warned && colour(lane.verdict) === 'good' ? 'warn' : colour(lane.verdict)}` }, lane.outcome);
}
function agents() {
  const list = shownLanes.map(index => lanes[index]).filter(lane => lane.session !== undefined);
  const hasCost = list.some(lane => lane.cost !== undefined), time = lane => lane.active, longest = Math.max(1, ...list.map(time).filter(Number.isFinite));
  const share = lane => { const bar = el('i', { class: 'share' }); bar.style.width = `${Math.max(1, time(lane) / longest * 100)}%`; return bar; };
  const files = lane => lane.files.slice(0, 3).map(([path]) => clean(path).split('/').at(-1)).join(', ') + (lane.files.length > 3 ? ` and ${lane.files.length - 3} more` : '');
  const columns = [
    { name: 'agent', value: laneName }, { name: 'task', wide: true, value: lane => lane.description, has: lane => lane.description }, { name: 'verdict', keep: true, value: verdict, key: lane => verdict(lane)?.textContent, has: verdict },
    ...(sessions.length > 1 || sessions.some(one => one.client) ? [{ name: 'session', wide: true, value: lane => sessionName(sessions[lane.session], 40), key: lane => sessionName(sessions[lane.session]) }] : []),
    { name: 'started', keep: true, value: lane => el('span', { title: moment(lane.started) }, soon(lane.started)), key: lane => lane.started },
    { name: 'time', number: true, value: lane => el('span', {}, timeOf(lane), share(lane)), key: time },
    numeric('tokens in', lane => lane.tokens.input, brief), numeric('out', lane => lane.tokens.output, brief), numeric('cache read', lane => lane.tokens.cache_read, brief),
    ...(hasCost ? [costColumn(costOfLane)] : []), numeric('calls', lane => lane.tools),
    { name: 'files written by tools', wide: true, value: files, key: lane => lane.files.length, has: lane => lane.files.length }, { name: 'decisions', wide: true, has: lane => Object.keys(lane.decisions).length, value: lane => el('span', {}, decisionPills(lane)), key: lane => Object.values(lane.decisions).reduce((a, b) => a + b, 0) }];
  return section('agents-section', 'Agents', list.length, tableOr('No agents.', columns.filter(({ has }) => !has || list.some(has)), list, { open: showLane }));
}
function filesWritten() {
  const files = new Map();
  for (const index of shownLanes) for (const [path, n] of lanes[index].files) { const file = files.get(path) ?? { path, writes: 0, agents: new Set() }; file.writes += n; file.agents.add(laneName(lanes[index])); files.set(path, file); }
  const root = `${data.project}/`, inProject = path => path.startsWith(root) ? path.slice(root.length) : path;
  const list = [...files.values()];
  return section('files-section', 'Files written by tools (without shell commands)', list.length, tableOr('No tool wrote a file, as far as the transcripts show. What shell commands wrote is not listed.',
    [{ name: 'file', value: file => el('code', {}, inProject(file.path)), key: file => file.path }, numeric('writes', file => file.writes), { name: 'agents', value: file => [...file.agents].join(', ') }], list, { order: 1 }));
}
function phasesOf(step) {
  const is = (text, pattern) => pattern.test(text ?? '');
  const ink = phase => is(phase.status, /^EXECUTED$/i) ? (is(phase.outcome, /^FAIL/i) ? 'bad' : 'good') : is(phase.status, /^SKIPPED$/i) ? 'warn' : is(phase.status, /^IN_PROGRESS$/i) ? 'ask' : 'dim';
  const sign = { good: '✓ ', bad: '✗ ', warn: '– ', ask: '… ', dim: '' };
  return el('div', { class: 'phases' }, step.phases.map(phase => el('span', { class: `phase ${ink(phase)}`, title: clean(`${phase.status ?? 'NOT_EXECUTED'} ${phase.outcome ?? ''} ${phase.blocked_by ?? ''}`) }, `${sign[ink(phase)]}${phase.name}`)));
}
function steps(named) {
  const isWhole = shown.length === records.length, list = data.steps.filter(step => isWhole || named.has(step.step));
  return section('steps-section', 'Steps', list.length, tableOr('No step files were named.', [{ name: 'step', value: step => el('code', {}, step.step), key: step => step.step }, { name: 'task', value: step => step.name },
    { name: 'state', keep: true, value: step => step.problem ?? step.state, style: step => step.problem || /FAIL/.test(step.state) ? 'bad' : /DONE/.test(step.state) ? 'good' : '' },
    { name: 'phases', wide: true, value: phasesOf, key: step => step.phases.filter(phase => /^(EXECUTED|SKIPPED)$/i.test(phase.status ?? '')).length }], list));
}
function gather() {
  const kinds = new Map(), commands = new Map(), named = new Set(), decisions = {};
  const run = (line, code, ms) => {
    let found = commands.get(line);
    if (!found) commands.set(line, found = { run: line, runs: 0, failures: 0, total: 0, max: 0 });
    found.runs++; found.failures += code === 0 ? 0 : 1; found.total += ms; found.max = Math.max(found.max, ms);
  };
  for (const index of shown) {
    const r = records[index];
    decisions[r.decision] = (decisions[r.decision] ?? 0) + 1;
    if (r.step) named.add(r.step);
    // What a rule allowed is no finding.
    if (r.findings) for (const f of findingsOf(r)) if (f.code !== 'PERMISSION_ALLOWED') {
      let found = kinds.get(f.code);
      if (!found) kinds.set(f.code, found = { code: f.code, count: 0, phases: new Set(), agents: new Set(), example: f.what });
      if (f.phase) found.phases.add(clean(f.phase));
      found.count++; found.agents.add(laneName(lanes[r.lane]));
    }
    if (r.commands) for (const c of commandsOf(r)) run(c.run, c.exit_code, took(c));
    if (r.evidence?.command) run(r.evidence.command, r.evidence.exit_code, took(r.evidence));
  }
  return { kinds: [...kinds.values()], commands: [...commands.values()], named, decisions };
}
function chainSection() {
  const { chain } = data;
  if (!chain.records && !chain.problem && !chain.warnings.length && !chain.notes.length) return undefined;
  return section('chain-section', 'The audit trail', undefined,
    el('p', { class: chain.problem ? 'bad' : 'good' }, chain.problem ? `✗ ${chain.problem} (${counted(chain.records, 'record')} before it are in order)` : `✓ ${counted(chain.records, 'record')} in order`),
    el('p', { class: 'note' }, chain.end_compared ? 'Every hash was checked, and the end compared with the copy outside the project.' : 'Every hash was checked.'),
    chain.warnings.map(text => el('p', { class: 'warn' }, `⚠ ${text}`)), chain.notes.map(text => el('p', { class: 'note' }, text)));
}
function readSection() {
  const { files, lines, bytes, versions, problems } = data.transcripts;
  return section('read-section', 'What was read', undefined, el('p', { class: 'note' }, `${counted(files, 'transcript')} with ${counted(lines, 'line')} (${(bytes / 1e6).toFixed(1)} MB)${versions.length ? `, written by Claude Code ${versions.join(', ')}` : ''}.`),
    [...problems, ...data.left_out].map(text => el('p', { class: 'warn' }, `⚠ ${text}`)));
}
const has = { findings: records.some(r => findingsOf(r).some(f => f.code !== 'PERMISSION_ALLOWED')), commands: records.some(r => commandsOf(r).length || r.evidence?.command), lost: lanes.some(lane => lane.state === 'never_stopped') };
function drawSections() {
  const { kinds, commands, named, decisions } = gather(), lost = shownLanes.map(index => lanes[index]).filter(lane => lane.state === 'never_stopped');
  const code = of => item => el('code', {}, of(item));
  const list = shownLanes.map(index => lanes[index]), first = [], all = [];
  // What is empty without a filter has no section.
  const add = (isThere, make) => { if (isThere) all.push(make()); };
  // Of many sessions, the overview comes before the timeline.
  const overview = sessions.length > 1 ? first : all;
  if (lanes.some(lane => lane.usage.length)) { const [costs, ...tables] = usage(list); if (costs) overview.push(costs); all.push(...tables); }
  if (sessions.length > 1) first.push(sessionList(list));
  add(lanes.some(lane => lane.session !== undefined), agents);
  add(data.steps.length, () => steps(named));
  add(has.findings, () => half(section('findings-section', 'Findings by kind', kinds.length, tableOr('No findings.', [{ name: 'kind', keep: true, value: f => GUARDS.has(f.code) ? kindOf(f.code) : el('code', {}, f.code), key: f => kindOf(f.code) }, numeric('count', f => f.count), ...(kinds.some(f => f.phases.size) ? [{ name: 'phases', value: f => [...f.phases].join(', ') }] : []), { name: 'agents', value: f => [...f.agents].join(', ') }, { name: 'for example', wide: true, value: f => f.example }], kinds, { order: 1 }))));
  add(has.commands, () => half(section('commands-section', 'Slowest commands', commands.length, tableOr('No commands ran.', [{ name: 'command', value: code(c => c.run), key: c => c.run }, numeric('runs', c => c.runs), { ...numeric('failures', c => c.failures), style: c => c.failures ? 'bad' : '' }, numeric('mean', c => c.total / c.runs, duration), numeric('longest', c => c.max, duration), numeric('in all', c => c.total, duration)], commands, { order: 4 }))));
  add(hooks.length, () => section('hooks-section', 'Hooks that failed silently', shownHooks.length, tableOr('None.', [{ name: 'time', keep: true, value: h => moment(h.time), key: h => h.time }, { name: 'hook', value: h => h.hook }, { name: 'what', value: h => h.kind, style: () => 'warn' }, { name: 'agent', value: h => laneName(lanes[h.lane]) }, { name: 'command', value: code(h => h.command), key: h => h.command }, numeric('took', h => h.duration_ms, duration), { name: 'error', wide: true, value: code(h => h.stderr), key: h => h.stderr }], shownHooks),
    filter.decisions.size ? none('A hook that failed has no decision: the filter for decisions does not apply to these.') : undefined));
  add(has.lost, () => section('lost-section', 'Agents that started and never stopped', lost.length, tableOr('None.', [{ name: 'agent', value: laneName }, { name: 'id', keep: true, value: code(lane => lane.id), key: lane => lane.id }, { name: 'task', value: lane => lane.description }, { name: 'started', keep: true, value: lane => moment(lane.started), key: lane => lane.started }, { name: 'last seen', keep: true, value: lane => moment(lane.ended), key: lane => lane.ended }, { name: 'why', wide: true, value: lane => lane.why }], lost, { open: showLane })));
  add(lanes.some(lane => lane.files.length), () => half(filesWritten()));
  all.push(half(el('div', {}, chainSection() ?? [], readSection())));
  fill($('first'), first); fill($('sections'), all);
  drawCards(decisions, lost.length);
}
function drawCards(decisions, lost) {
  const list = shownLanes.map(index => lanes[index]), sum = of => list.reduce((total, lane) => total + (of(lane) ?? 0), 0);
  const cost = list.some(lane => lane.cost !== undefined) ? sum(lane => lane.cost) : undefined, to = id => () => $(id)?.scrollIntoView(), usages = () => ($('usage-section') ?? $('models-section'))?.scrollIntoView();
  // Older records are left out of a large page, and their lanes still count them.
  const isNarrow = filter.text.trim() !== '' || filter.decisions.size > 0, decided = name => isNarrow ? decisions[name] ?? 0 : sum(lane => lane.decisions[name]);
  const count = isNarrow ? shown.length : sum(lane => Object.values(lane.decisions).reduce((a, b) => a + b, 0));
  const cards = [['sessions', new Set(list.map(lane => lane.session).filter(one => one !== undefined)).size, number, '', sessions.length > 1 ? to('sessions-section') : undefined], ['subagents', list.filter(lane => lane.id !== undefined).length, number, '', to('agents-section')], ['tool calls', sum(lane => lane.tools), number],
    ['tokens out', sum(lane => lane.tokens.output), brief, '', usages], ['cost', cost, cost => costOf({ cost, unpriced: unpricedOf(list) }), '', usages], ['records', count, number, '', to('records-section')],
    ...['blocked', 'denied', 'asked'].map(name => [name, decided(name), number, colour(name), () => toggle(name)]),
    ['failed hooks', shownHooks.length, number, 'warn', to('hooks-section')], ['never stopped', lost, number, 'bad', to('lost-section')]];
  fill($('cards'), cards.filter(([, value]) => value).map(([name, value, show, style, open]) => el(open ? 'button' : 'div', { class: 'card', 'data-card': name, ...(open ? { type: 'button', on: { click: open } } : {}) }, el('b', { class: style || '' }, show(value)), el('span', {}, name))));
  arrangeCards();
}
// Rows of the same length, as nearly as that is possible: no card is alone on one.
function arrangeCards() {
  const all = $('cards').children.length, least = 118 + 9, fit = Math.max(2, Math.floor(($('cards').clientWidth + 9) / least)), lines = Math.ceil(all / fit);
  $('cards').style.setProperty('--columns', Math.ceil(all / lines));
}

