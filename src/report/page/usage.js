// ---- usage: tokens and cost by day, with the models stacked, and tables of them

const MODEL_INKS = 8, MAX_BARS = 62;
let measure = 'cost';
// Colours stay with their model, whatever the filter is; the largest have their own.
const modelInks = new Map(data.usage.models.map((row, index) => [row.name, Math.min(index, MODEL_INKS - 1)]));
const inkOfModel = name => `var(--m${modelInks.get(name) ?? MODEL_INKS - 1})`;
const PARTS = ['input', 'output', 'cache_read', 'cache_write'];
const allTokens = tokens => PARTS.reduce((sum, part) => sum + tokens[part], 0);
const cellsOf = list => list.flatMap(lane => lane.usage.map(cell => ({ lane, cell })));
function groupBy(cells, keyOf) {
  const rows = new Map();
  for (const { lane, cell } of cells) {
    const name = keyOf(lane, cell);
    let row = rows.get(name);
    if (!row) rows.set(name, row = { name, sessions: new Set(), answers: 0, tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 }, cost: undefined, unpriced: 0 });
    row.sessions.add(lane.session); row.answers += cell.answers;
    for (const part of PARTS) row.tokens[part] += cell.tokens[part];
    if (cell.cost === undefined) row.unpriced += allTokens(cell.tokens); else row.cost = (row.cost ?? 0) + cell.cost;
  }
  return [...rows.values()].sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || allTokens(b.tokens) - allTokens(a.tokens));
}
const dollars = n => n === undefined ? '–' : n < .1 ? money(n) : `$${n < 1000 ? n.toFixed(2) : number(Math.round(n))}`;
const costOf = row => el('span', row.unpriced ? { title: `without ${number(row.unpriced)} tokens of models without a price` } : {}, row.cost === undefined ? '–' : dollars(row.cost) + (row.unpriced ? ' + ?' : ''));
// Tokens of models without a price, which are not in the cost.
const unpricedOf = list => cellsOf(list).reduce((sum, { cell }) => cell.cost === undefined ? sum + allTokens(cell.tokens) : sum, 0);
const costOfLane = lane => ({ cost: lane.cost, unpriced: unpricedOf([lane]) });
const costColumn = (of = row => row) => ({ ...numeric('cost', row => of(row).cost, dollars), value: row => costOf(of(row)) });
function usageTable(name, rows, show = row => row.name) {
  return table([{ name, value: show, key: row => row.name }, ...(sessions.length > 1 ? [numeric('sessions', row => row.sessions.size)] : []), numeric('tokens in', row => row.tokens.input, brief), numeric('out', row => row.tokens.output, brief),
    numeric('cache read', row => row.tokens.cache_read, brief), numeric('cache write', row => row.tokens.cache_write, brief), costColumn()], rows);
}
const dot = name => { const node = el('i', { class: 'dot' }); node.style.background = inkOfModel(name); return node; };

// ---- the chart: days, or weeks or months where there would be too many

const utc = text => Date.parse(`${text}T00:00:00Z`), isoDay = ms => new Date(ms).toISOString().slice(0, 10);
function bucketsOf(days) {
  const first = utc(days[0]), last = utc(days.at(-1)), DAY = 864e5;
  const span = Math.round((last - first) / DAY) + 1;
  if (span <= MAX_BARS) return { unit: 'day', names: Array.from({ length: span }, (_, at) => isoDay(first + at * DAY)), of: text => text };
  const monday = ms => ms - ((new Date(ms).getUTCDay() + 6) % 7) * DAY;
  if (span <= MAX_BARS * 7) return { unit: 'week', names: Array.from({ length: Math.floor((monday(last) - monday(first)) / 6048e5) + 1 }, (_, at) => isoDay(monday(first) + at * 6048e5)), of: text => isoDay(monday(utc(text))) };
  const names = [];
  for (let at = days[0].slice(0, 7); at <= days.at(-1).slice(0, 7); ) { names.push(at); const [year, month] = at.split('-').map(Number); at = month === 12 ? `${year + 1}-01` : `${year}-${two(month + 1)}`; }
  return { unit: 'month', names, of: text => text.slice(0, 7) };
}
function chart(cells) {
  const days = [...new Set(cells.map(({ cell }) => cell.day))].sort();
  if (!days.length) return { unit: 'day', node: none('No tokens that match the filter.') };
  const { unit, names, of } = bucketsOf(days), sums = new Map(names.map(name => [name, new Map()]));
  for (const { cell } of cells) {
    const bar = sums.get(of(cell.day)), value = measure === 'cost' ? cell.cost ?? 0 : allTokens(cell.tokens);
    bar?.set(cell.model, (bar.get(cell.model) ?? 0) + value);
  }
  const order = data.usage.models.map(row => row.name), show = measure === 'cost' ? dollars : n => `${brief(n)} tokens`;
  const total = bar => [...bar.values()].reduce((a, b) => a + b, 0), most = Math.max(...[...sums.values()].map(total), 1e-9);
  const years = new Set(names.map(name => name.slice(0, 4))).size > 1, label = name => unit === 'month' || years ? name : name.slice(5);
  const every = Math.ceil(names.length / Math.max(2, Math.floor(($('sections').clientWidth || 900) / 70)));
  const bars = names.map((name, at) => {
    const bar = sums.get(name), sum = total(bar), parts = order.filter(model => bar.get(model) > 0);
    const stack = el('div', { class: 'stack' }, parts.map(model => { const part = el('i'); part.style.height = `${bar.get(model) / most * 100}%`; part.style.background = inkOfModel(model); return part; }));
    const says = sum ? [`${name}: ${show(sum)}`, ...[...parts].reverse().map(model => `${model}: ${show(bar.get(model))}`)].join('\n') : `${name}: nothing`;
    return el('div', { class: 'bar', role: 'listitem', title: clean(says), 'aria-label': clean(says) }, stack, el('span', {}, at % every ? '' : label(name)));
  });
  const scale = el('div', { class: 'scale', 'aria-hidden': 'true' }, el('span', {}, show(most)), el('span', {}, show(most / 2)), el('span', {}, '0'));
  return { unit, node: el('div', { class: 'chart' }, scale, el('div', { class: 'bars', role: 'list', 'aria-label': `${measure} by ${unit}` }, bars)) };
}
function usage(list) {
  const cells = cellsOf(list), models = groupBy(cells, (_, cell) => cell.model), hasCost = models.some(row => row.cost !== undefined);
  if (!hasCost) measure = 'tokens';
  const { unit, node } = chart(cells);
  const pick = name => el('button', { type: 'button', 'aria-pressed': String(measure === name), on: { click: () => { measure = name; drawSections(); } } }, name);
  const tools = el('div', { class: 'tools' }, hasCost ? [pick('cost'), pick('tokens')] : [], el('span', { class: 'legend' }, models.map(row => el('span', {}, dot(row.name), row.name))));
  const notes = data.unpriced.length ? none(`Without a known price, and not in the cost: ${data.unpriced.join(', ')}. Give theirs in the config, under report.prices.`) : undefined;
  const project = lane => sessions[lane.session]?.project ?? '(unknown)';
  const tables = [['models', 'By model', 'model', models, row => el('span', {}, dot(row.name), row.name)],
    ['days', 'By day', 'day', groupBy(cells, (_, cell) => cell.day).sort((a, b) => a.name < b.name ? 1 : -1)],
    ['projects', 'By project', 'project', groupBy(cells, project)], ['branches', 'By branch', 'branch', groupBy(cells, (_, cell) => cell.branch ?? '(no branch)')],
    ['types', 'By agent type', 'agent', groupBy(cells, lane => lane.id === undefined ? 'main thread' : lane.name)]];
  // One day needs no chart, and the agents of one session have a table of their own.
  const costs = data.usage.days.length > 1 ? section('usage-section', `${measure === 'cost' ? 'Cost' : 'Tokens'} by ${unit}`, undefined, tools, node, notes) : undefined;
  const shownTables = tables.filter(([id, , , rows], at) => at === 0 || (rows.length > 1 && (id !== 'types' || sessions.length > 1)));
  return [costs, ...shownTables.map(([id, title, name, rows, show], at) => half(section(`${id}-section`, title, rows.length, usageTable(name, rows, show), at || costs ? [] : notes ?? [])))];
}

// ---- sessions: the newest first, by day

function sessionList(list) {
  const bySession = new Map();
  for (const lane of list) if (lane.session !== undefined) { if (!bySession.has(lane.session)) bySession.set(lane.session, []); bySession.get(lane.session).push(lane); }
  const rows = [...bySession].sort((a, b) => a[0] - b[0]).map(([index, of]) => ({ index, session: sessions[index], agents: of.filter(lane => lane.id !== undefined).length, tokens: of.reduce((sum, lane) => sum + lane.tokens.output, 0), cost: of.reduce((sum, lane) => lane.cost === undefined ? sum : (sum ?? 0) + lane.cost, undefined), unpriced: unpricedOf(of) }));
  const projects = new Set(sessions.map(session => session.project)).size > 1, span = session => session.ended - session.started;
  const columns = [{ name: 'session', wide: true, value: row => el('span', { title: row.session.id }, sessionName(row.session)), key: row => sessionName(row.session) },
    ...(projects ? [{ name: 'project', value: row => el('span', { title: clean(row.session.project) }, clean(row.session.project).split('/').at(-1)), key: row => row.session.project }] : []),
    { name: 'last active', keep: true, value: row => el('span', { title: moment(row.session.ended) }, clock(row.session.ended).slice(0, 5)), key: row => row.session.ended },
    { name: 'time', number: true, value: row => timeOf(row.session), key: row => row.session.active },
    numeric('prompts', row => row.session.prompts), numeric('agents', row => row.agents), numeric('tokens out', row => row.tokens, brief), costColumn()];
  return section('sessions-section', 'Sessions', rows.length, table(columns, rows, { open: row => choose(row.index), group: row => day(row.session.ended) }));
}
// Pauses over five minutes do not count.
function timeOf(one) {
  const span = one.ended - one.started, active = duration(one.active);
  return el('span', { title: 'At work, without pauses over five minutes' }, active, duration(span) === active || !Number.isFinite(span) ? '' : el('small', { class: 'dim' }, ` in ${duration(span)}`));
}
function choose(index) { filter.session = String(index); $('session').value = String(index); applyFilter(); $('cards').scrollIntoView(); }
