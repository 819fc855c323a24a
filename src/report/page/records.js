// ---- records: only the rows in view exist

const ROW = 26, MAX_ROWS_PX = 8e6;
const warned = Uint8Array.from(records, r => hasWarning(r) ? 1 : 0);
const recordPill = index => warned[index] ? el('span', { class: 'pill warn', title: 'allowed, with a warning' }, `${words(records[index].decision)} ⚠`) : pill(records[index].decision);
const box = $('records'), rows = $('rows');
const scaleOf = () => Math.min(1, MAX_ROWS_PX / Math.max(1, shown.length * ROW));
const MAX_WHAT = 400;
function rowOf(at) {
  const index = shown[at], r = records[index];
  return el('div', { class: 'row', role: 'option', 'data-at': at, 'aria-selected': String(at === selected) },
    el('span', {}, r.seq), el('span', { title: moment(r.time) }, el('span', { class: 'day' }, `${date(r.time)} `), clock(r.time)), el('span', {}, r.event),
    recordPill(index), el('span', {}, laneName(lanes[r.lane])), el('span', { class: r.doubt ? 'bad' : '' }, what(r).slice(0, MAX_WHAT)));
}
// The same on paper, where the heads of a table are repeated on each page.
function printedRow(index) {
  const r = records[index];
  return el('tr', {}, [r.seq, soon(r.time), r.event, recordPill(index), laneName(lanes[r.lane])].map(cell => el('td', {}, cell)), el('td', { class: `mono ${r.doubt ? 'bad' : ''}` }, what(r).slice(0, MAX_WHAT)));
}
function drawRows(top) {
  const scale = scaleOf();
  rows.style.height = `${Math.ceil(shown.length * ROW * scale)}px`;
  box.style.height = `${Math.min(416, Math.max(2, shown.length) * ROW)}px`;
  if (top) box.scrollTop = 0;
  const height = box.clientHeight || 400;
  // Where all rows would be higher than a browser can scroll, a pixel of the bar is more than one of the list.
  const range = Math.max(1, rows.offsetHeight - height), full = Math.max(0, shown.length * ROW - height);
  const offset = scale === 1 ? box.scrollTop : box.scrollTop / range * full;
  const first = Math.max(0, Math.floor(offset / ROW) - 5), last = Math.min(shown.length, Math.ceil((offset + height) / ROW) + 5);
  const nodes = [];
  for (let at = first; at < last; at++) {
    const row = rowOf(at);
    row.style.top = `${at * ROW - offset + box.scrollTop}px`;
    nodes.push(row);
  }
  if (!shown.length) nodes.push(el('p', { class: 'dim' }, records.length ? 'No record matches the filter.' : 'No records: the audit trail is empty here.'));
  rows.replaceChildren(...nodes);
}
let rowsPending = false;
box.addEventListener('scroll', () => { if (!rowsPending) { rowsPending = true; requestAnimationFrame(() => { rowsPending = false; drawRows(false); }); } });
rows.addEventListener('click', event => { const row = event.target.closest('.row'); if (row) select(Number(row.dataset.at), true); });
function select(at, open) {
  if (!shown.length) return;
  selected = Math.max(0, Math.min(shown.length - 1, at));
  const scale = scaleOf(), y = selected * ROW * scale;
  if (y < box.scrollTop) box.scrollTop = y;
  if (y + ROW > box.scrollTop + box.clientHeight) box.scrollTop = y + ROW - box.clientHeight;
  drawRows(false);
  reveal(records[shown[selected]]);
  if (open || !$('details').hidden) showRecord(shown[selected]);
}

// ---- details

function showDetails(title, pairs, ...more) {
  const list = el('dl');
  for (const [name, value, style] of pairs) if (value !== undefined && value !== null && value !== '') list.append(el('dt', {}, name), el('dd', { class: style ?? '' }, value));
  fill($('details'), el('button', { class: 'close', type: 'button', 'aria-label': 'Close', title: 'Close ( Escape )', on: { click: hideDetails } }, '×'), el('h3', {}, title), list, ...more);
  $('details').hidden = false;
  $('details').scrollTop = 0;
}
const hideDetails = () => { $('details').hidden = true; };
const edge = (ink, ...children) => { const node = el('div', { class: 'item' }, ...children); node.style.setProperty('--edge', `var(--${ink})`); return node; };
function ruleOf(item) {
  const rule = item.rule && typeof item.rule === 'object' ? item.rule : undefined;
  if (!rule) return undefined;
  const where = rule.file ? ` in ${rule.file}${rule.line ? `:${rule.line}` : ''}` : '';
  return el('p', { class: 'dim' }, `${rule.key ?? ''}${rule.pattern ? ` “${rule.pattern}”` : ''}${where}${item.matched ? `, matched ${json(item.matched)}` : ''}`);
}
function showRecord(index) {
  const r = records[index], lane = lanes[r.lane], found = findingsOf(r), ran = commandsOf(r), given = objects(r.more?.applied), more = Object.entries(r.more ?? {}).filter(([name]) => name !== 'applied');
  showDetails(`${r.seq} · ${r.event}`, [['decision', recordPill(index)], ['tampered with', r.doubt, 'bad'], ['time', moment(r.time)], ['agent', laneName(lane)], ['task', lane.description], ['agent id', lane.id, 'mono'],
    ['session', lane.session === undefined ? '' : sessions[lane.session].id, 'mono'], ['reason', r.reason], ['step', r.step, 'mono'], ['phase', r.phase]],
    found.length ? el('h4', {}, 'Findings') : '', found.map(f => edge(INK[f.verdict] ?? INK[f.weight] ?? 'line', GUARDS.has(f.code) ? el('b', {}, f.what) : [el('b', {}, nameOf(f)), el('p', {}, f.what)], fixOf(r, f) ? el('p', { class: 'dim' }, fixOf(r, f)) : undefined, ruleOf(f))),
    ran.length ? el('h4', {}, 'Commands') : '', ran.map(c => edge(inkOf(c), hasFailed(c) && c.message ? el('b', {}, `${c.message}\n`) : undefined, el('code', {}, c.run), el('p', { class: hasFailed(c) ? inkOf(c) : 'dim' }, `${c.status} · ${duration(took(c))}`), ruleOf(c), c.output ? el('pre', { class: 'output' }, c.output) : undefined)),
    given.length ? el('h4', {}, 'Rules that gave or allowed something') : '', given.map(a => edge(INK[a.verdict] ?? 'good', el('p', {}, a.what), ruleOf(a))),
    r.evidence ? [el('h4', {}, 'Evidence'), edge('line', el('code', {}, json({ ...r.evidence, output: undefined })), r.evidence.output ? el('pre', { class: 'output' }, r.evidence.output) : undefined)] : '',
    more.length ? [el('h4', {}, 'More'), el('dl', {}, more.map(([name, value]) => [el('dt', {}, name), el('dd', { class: 'mono' }, json(value))]))] : '');
}
function showLane(lane) {
  showDetails(laneName(lane), [['task', lane.description], ['agent id', lane.id, 'mono'], ['session', lane.session === undefined ? '' : sessionName(sessions[lane.session], 200)], ['session id', lane.session === undefined ? '' : sessions[lane.session].id, 'mono'], ['state', stateOf(lane), STATES[lane.state]?.[1]], ['why', lane.why],
    ['verdict', verdict(lane)], ['decisions', el('span', {}, decisionPills(lane))], ['started', moment(lane.started)], ['last seen', moment(lane.ended)], ['time', timeOf(lane)], ['models', lane.models.join(', ')], ['messages', number(lane.messages)],
    ['tokens in', number(lane.tokens.input)], ['tokens out', number(lane.tokens.output)], ['cache read', number(lane.tokens.cache_read)], ['cache written', number(lane.tokens.cache_write)],
    ['cost', lane.cost === undefined ? '' : costOf(costOfLane(lane))], ['tool calls', number(lane.tools)], ['files written by tools', lane.files.map(([path, n]) => n > 1 ? `${path} (${n}×)` : path).join('\n'), 'mono']]);
}
