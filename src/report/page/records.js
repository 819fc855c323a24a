// ---- records: only the rows in view exist

const ROW = 26, MAX_ROWS_PX = 8e6;
const box = $('records'), rows = $('rows');
const scaleOf = () => Math.min(1, MAX_ROWS_PX / Math.max(1, shown.length * ROW));
function rowOf(at) {
  const r = records[shown[at]];
  return el('div', { class: 'row', role: 'option', 'data-at': at, 'aria-selected': String(at === selected) },
    el('span', {}, r.seq), el('span', { title: moment(r.time) }, el('span', { class: 'day' }, `${day(r.time).slice(5)} `), clock(r.time)), el('span', {}, r.event),
    pill(r.decision), el('span', {}, laneName(lanes[r.lane])), el('span', { class: r.doubt ? 'bad' : '' }, what(r).slice(0, 400)));
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
  if (open || !$('details').hidden) showRecord(records[shown[selected]]);
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
const INK = { block: 'bad', warn: 'warn', ask: 'ask', pass: 'good' };
function showRecord(r) {
  const lane = lanes[r.lane], found = findingsOf(r), ran = commandsOf(r);
  showDetails(`${r.seq} · ${r.event}`, [['decision', pill(r.decision)], ['tampered with', r.doubt, 'bad'], ['time', moment(r.time)], ['agent', laneName(lane)], ['task', lane.description], ['agent id', lane.id, 'mono'],
    ['session', lane.session === undefined ? '' : sessions[lane.session].id, 'mono'], ['reason', r.reason], ['step', r.step, 'mono'], ['phase', r.phase]],
    found.length ? el('h4', {}, 'Findings') : '', found.map(f => edge(INK[f.verdict] ?? INK[f.weight] ?? 'line', el('b', {}, f.code), el('p', {}, f.what), f.fix ? el('p', { class: 'dim' }, f.fix) : undefined, ruleOf(f))),
    ran.length ? el('h4', {}, 'Commands') : '', ran.map(c => edge(c.exit_code === 0 ? 'good' : INK[c.verdict] ?? 'bad', el('code', {}, c.run), el('p', { class: c.exit_code === 0 ? 'dim' : 'bad' }, `${c.status} · ${duration(took(c))}`), ruleOf(c))),
    r.evidence ? [el('h4', {}, 'Evidence'), edge('line', el('code', {}, json(r.evidence)))] : '',
    Object.keys(r.more ?? {}).length ? [el('h4', {}, 'More'), el('dl', {}, Object.entries(r.more).map(([name, value]) => [el('dt', {}, name), el('dd', { class: 'mono' }, json(value))]))] : '');
}
function showLane(lane) {
  showDetails(laneName(lane), [['task', lane.description], ['agent id', lane.id, 'mono'], ['session', lane.session === undefined ? '' : sessions[lane.session].id, 'mono'], ['state', stateOf(lane), STATES[lane.state]?.[1]], ['why', lane.why],
    ['verdict', verdict(lane)], ['decisions', el('span', {}, decisionPills(lane))], ['started', moment(lane.started)], ['last seen', moment(lane.ended)], ['time', duration(lane.ended - lane.started)], ['models', lane.models.join(', ')], ['messages', number(lane.messages)],
    ['tokens in', number(lane.tokens.input)], ['tokens out', number(lane.tokens.output)], ['cache read', number(lane.tokens.cache_read)], ['cache written', number(lane.tokens.cache_write)],
    ['cost', lane.cost === undefined ? '' : money(lane.cost)], ['tool calls', number(lane.tools)], ['files written', lane.files.map(([path, n]) => n > 1 ? `${path} (${n}×)` : path).join('\n'), 'mono']]);
}
