'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const { sessions, lanes, records, calls, hooks } = data;

// ---- text: everything in the data may be text of others, so it only ever becomes a text node

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g;
const clean = text => String(text ?? '').replace(HIDDEN, '\ufffd');
function el(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === 'class') node.className = value;
    else if (name === 'on') for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) if (child !== undefined && child !== null) node.append(child instanceof Node ? child : clean(child));
  return node;
}
const fill = (node, ...children) => node.replaceChildren(...children.flat().map(child => child instanceof Node ? child : clean(child)));

const two = n => String(n).padStart(2, '0');
const day = ms => { const d = new Date(ms); return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`; };
const clock = (ms, fine) => { const d = new Date(ms); return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}${fine ? '.' + String(d.getMilliseconds()).padStart(3, '0') : ''}`; };
const moment = ms => ms === undefined || ms === null ? '–' : `${day(ms)} ${clock(ms)}`;
function duration(ms) {
  if (ms === undefined || ms === null) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}
const number = n => n.toLocaleString('en');
const money = n => n === undefined || n === null ? '–' : `$${n.toFixed(n < 1 ? 4 : 2)}`;
const COLOURS = { blocked: 'bad', denied: 'bad', unfinished: 'bad', FAIL: 'bad', FAILED: 'bad', allowed_despite_failure: 'bad', interrupted: 'warn', warned: 'warn', allowed_failed: 'warn', asked: 'ask' };
const colour = decision => COLOURS[decision] ?? 'good';
const short = id => clean(id).slice(0, 8);
const laneName = lane => lane.id === undefined ? 'main thread' : lane.name;
const laneLabel = lane => lane.session === undefined ? 'no session' : lane.id === undefined ? `${short(sessions[lane.session].id)} main thread` : `  ${lane.name}${lane.description ? ' · ' + lane.description : ''}`;

// ---- filter

const filter = { text: '', session: '', agent: '', decisions: new Set() };
const texts = new Array(records.length);
function textOf(index) {
  if (texts[index] === undefined) {
    const r = records[index];
    texts[index] = `${r.seq} ${r.event} ${r.decision} ${laneName(lanes[r.lane])} ${lanes[r.lane].id ?? ''} ${what(r)} ${r.step ?? ''} ${r.phase ?? ''}`.toLowerCase();
  }
  return texts[index];
}
function what(r) {
  if (r.doubt) return `✗ ${r.doubt}`;
  const parts = [];
  for (const f of r.findings ?? []) parts.push(`${f.code}: ${f.what}`);
  // What failed says more than what did not.
  for (const c of [...(r.commands ?? [])].sort((a, b) => (a.exit_code === 0) - (b.exit_code === 0))) parts.push(`${c.run} ${c.status} (${duration(c.duration_ms)})`);
  if (r.evidence) parts.push(`${r.evidence.command ?? ''} → ${r.evidence.exit_code ?? ''}`);
  if (r.reason) parts.unshift(r.reason);
  if (r.step) parts.push([r.step, r.phase].filter(Boolean).join(' '));
  return parts.join(' · ');
}
const isShownLane = index => {
  const lane = lanes[index];
  return (filter.session === '' || String(lane.session) === filter.session) && (filter.agent === '' || laneName(lane) === filter.agent);
};
let shown = [], shownLanes = [], selected = -1;
function applyFilter() {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const ok = lanes.map((_, index) => isShownLane(index));
  shown = [];
  for (let i = 0; i < records.length; i++) {
    const r = records[i];
    if (!ok[r.lane] || (filter.decisions.size && !filter.decisions.has(r.decision))) continue;
    if (words.length && !words.every(word => textOf(i).includes(word))) continue;
    shown.push(i);
  }
  shownLanes = lanes.map((_, index) => index).filter(index => ok[index]);
  fill($('records-count'), shown.length === records.length ? number(records.length) : `${number(shown.length)} of ${number(records.length)}`);
  selected = -1;
  marks = byLane(shown.map(index => ({ lane: records[index].lane, time: records[index].time, index })));
  drawRows(true);
  sizeTimeline();
  drawSections();
}

// ---- records: only the rows in view exist

const ROW = 24, MAX_ROWS_PX = 8e6;
const box = $('records'), rows = $('rows');
const scaleOf = () => Math.min(1, MAX_ROWS_PX / Math.max(1, shown.length * ROW));
function rowOf(at) {
  const r = records[shown[at]];
  return el('div', { class: 'row', role: 'option', 'data-at': at, 'aria-selected': String(at === selected) },
    el('span', {}, r.seq), el('span', { title: moment(r.time) }, `${day(r.time).slice(5)} ${clock(r.time)}`), el('span', {}, r.event),
    el('span', { class: colour(r.decision) }, r.decision), el('span', {}, laneName(lanes[r.lane])), el('span', { class: r.doubt ? 'bad' : '' }, what(r).slice(0, 400)));
}
function drawRows(top) {
  const scale = scaleOf();
  rows.style.height = `${Math.ceil(shown.length * ROW * scale)}px`;
  box.style.height = `${Math.min(384, Math.max(3, shown.length) * ROW + 2)}px`;
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
  if (!shown.length) nodes.push(el('p', { class: 'dim' }, records.length ? ' No record matches the filter.' : ' No records: the audit trail is empty here.'));
  rows.replaceChildren(...nodes);
}
box.addEventListener('scroll', () => requestAnimationFrame(() => drawRows(false)));
rows.addEventListener('click', event => { const row = event.target.closest('.row'); if (row) select(Number(row.dataset.at), true); });
function select(at, open) {
  if (!shown.length) return;
  selected = Math.max(0, Math.min(shown.length - 1, at));
  const scale = scaleOf(), y = selected * ROW * scale;
  if (y < box.scrollTop) box.scrollTop = y;
  if (y + ROW > box.scrollTop + box.clientHeight) box.scrollTop = y + ROW - box.clientHeight;
  drawRows(false);
  draw();
  if (open) showRecord(records[shown[selected]]);
}

// ---- details

function showDetails(title, pairs) {
  const list = el('dl');
  for (const [name, value, style] of pairs) if (value !== undefined && value !== null && value !== '') list.append(el('dt', {}, name), el('dd', { class: style ?? '' }, value));
  fill($('details'), el('button', { class: 'close', type: 'button', 'aria-label': 'Close', on: { click: hideDetails } }, '×'), el('h3', {}, title), list);
  $('details').hidden = false;
}
const hideDetails = () => { $('details').hidden = true; };
function showRecord(r) {
  const lane = lanes[r.lane];
  const pairs = [['decision', r.decision, colour(r.decision)], ['tampered with', r.doubt, 'bad'], ['time', `${moment(r.time)}`], ['agent', laneName(lane)], ['agent id', lane.id],
    ['session', lane.session === undefined ? '' : sessions[lane.session].id], ['reason', r.reason], ['step', r.step], ['phase', r.phase]];
  for (const f of r.findings ?? []) pairs.push([f.code, [f.what, f.fix].filter(Boolean).join('\n'), 'mono']);
  for (const c of r.commands ?? []) pairs.push([`command (${duration(c.duration_ms)})`, `${c.run}\n${c.status}`, 'mono']);
  if (r.evidence) pairs.push(['evidence', JSON.stringify(r.evidence, null, 1), 'mono']);
  for (const [name, value] of Object.entries(r.more ?? {})) pairs.push([name, typeof value === 'string' ? value : JSON.stringify(value, null, 1), 'mono']);
  showDetails(`${r.seq} · ${r.event}`, pairs);
}
function showLane(lane) {
  showDetails(laneName(lane), [['agent id', lane.id], ['task', lane.description], ['session', lane.session === undefined ? '' : sessions[lane.session].id], ['state', stateOf(lane)], ['why', lane.why],
    ['started', moment(lane.started)], ['last seen', moment(lane.ended)], ['time', duration(lane.ended - lane.started)], ['models', lane.models.join(', ')], ['messages', number(lane.messages)],
    ['tokens in', number(lane.tokens.input)], ['tokens out', number(lane.tokens.output)], ['cache read', number(lane.tokens.cache_read)], ['cache written', number(lane.tokens.cache_write)],
    ['cost', lane.cost === undefined ? '' : money(lane.cost)], ['tool calls', number(lane.tools)], ['files written', lane.files.map(([path, n]) => n > 1 ? `${path} (${n}×)` : path).join('\n'), 'mono']]);
}
const STATES = { stopped: ['stopped', 'good'], running: ['running', 'warn'], never_stopped: ['never stopped', 'bad'], main: ['', ''] };
const stateOf = lane => STATES[lane.state]?.[0] ?? '';

// ---- timeline

const LANE = 22, AXIS = 22, canvas = $('canvas'), timeline = $('timeline'), pen = canvas.getContext('2d');
let gutter = 190, view = [0, 1], whole = [0, 1], marks = [], width = 800, height = 200;
function byLane(items) {
  const found = lanes.map(() => []);
  for (const item of items) found[item.lane].push(item);
  for (const list of found) list.sort((a, b) => a.time - b.time);
  return found;
}
const callsByLane = byLane(calls.map((call, index) => ({ lane: call[0], time: call[1], end: call[1] + (call[2] ?? 0), index })));
const hooksByLane = byLane(hooks.map((hook, index) => ({ lane: hook.lane, time: hook.time, index })));
function bounds(of) {
  let low = Infinity, high = -Infinity;
  const take = ms => { if (ms !== undefined && ms !== null) { if (ms < low) low = ms; if (ms > high) high = ms; } };
  for (const index of of) { take(lanes[index].started); take(lanes[index].ended); }
  const wanted = new Set(of);
  for (const r of records) if (wanted.has(r.lane)) take(r.time);
  if (low > high) return [0, 1000];
  const room = Math.max(500, (high - low) * .02);
  return [low - room, high + room];
}
function sizeTimeline() {
  whole = bounds(shownLanes);
  view = [...whole];
  const total = shownLanes.length * LANE + AXIS;
  timeline.style.height = `${Math.min(total + 2, 416)}px`;
  $('spacer').style.height = `${total}px`;
  resize();
}
function resize() {
  width = timeline.clientWidth; height = timeline.clientHeight;
  gutter = width < 700 ? 110 : 230;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio; canvas.height = height * ratio;
  canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw();
}
const xOf = ms => gutter + (ms - view[0]) / (view[1] - view[0]) * (width - gutter);
const timeAt = x => view[0] + (x - gutter) / (width - gutter) * (view[1] - view[0]);
const firstAt = (list, ms) => { let low = 0, high = list.length; while (low < high) { const middle = (low + high) >> 1; if (list[middle].time < ms) low = middle + 1; else high = middle; } return low; };
const STEPS = [1, 5, 10, 50, 100, 500, 1e3, 5e3, 1e4, 3e4, 6e4, 3e5, 6e5, 18e5, 36e5, 108e5, 216e5, 432e5, 864e5, 6048e5, 2592e6];
let pending = false;
function draw() { if (!pending) { pending = true; requestAnimationFrame(() => { pending = false; paint(); }); } }
function paint() {
  const css = getComputedStyle(document.documentElement), ink = name => css.getPropertyValue(`--${name}`).trim();
  const inks = Object.fromEntries(['bg', 'panel', 'line', 'text', 'dim', 'good', 'bad', 'warn', 'ask', 'tool', 'command', 'life', 'accent'].map(name => [name, ink(name)]));
  pen.fillStyle = inks.panel; pen.fillRect(0, 0, width, height);
  pen.font = '12px system-ui, sans-serif'; pen.textBaseline = 'middle';
  const scroll = timeline.scrollTop;
  const first = Math.floor(scroll / LANE), last = Math.min(shownLanes.length, Math.ceil((scroll + height - AXIS) / LANE));
  for (let at = first; at < last; at++) paintLane(lanes[shownLanes[at]], shownLanes[at], AXIS + at * LANE - scroll, inks);
  paintAxis(inks);
}
function paintAxis(inks) {
  pen.fillStyle = inks.panel; pen.fillRect(0, 0, width, AXIS);
  const span = view[1] - view[0], step = STEPS.find(ms => span / ms * 90 < width - gutter) ?? STEPS.at(-1);
  pen.fillStyle = inks.dim; pen.strokeStyle = inks.line; pen.textAlign = 'left';
  const zone = new Date(view[0]).getTimezoneOffset() * 6e4;
  for (let ms = Math.ceil((view[0] - zone) / step) * step + zone; ms < view[1]; ms += step) {
    const x = Math.round(xOf(ms)) + .5;
    pen.beginPath(); pen.moveTo(x, AXIS - 4); pen.lineTo(x, height); pen.globalAlpha = .5; pen.stroke(); pen.globalAlpha = 1;
    pen.fillText(step >= 864e5 ? day(ms) : span > 864e5 ? `${day(ms).slice(5)} ${clock(ms).slice(0, 5)}` : clock(ms, step < 1000).slice(0, step < 1000 ? 12 : 8), x + 3, AXIS / 2);
  }
}
function paintLane(lane, index, y, inks) {
  const middle = y + LANE / 2, bar = (from, to, top, size, ink, least) => {
    const x = Math.max(gutter, xOf(from)), end = Math.min(width, xOf(to));
    if (end >= gutter && x <= width) { pen.fillStyle = ink; pen.fillRect(x, top, Math.max(least, end - x), size); }
  };
  if (lane.started !== undefined) bar(lane.started, lane.ended ?? lane.started, y + 3, LANE - 6, inks.life, 2);
  // Calls that fall onto one pixel are one.
  let until = -1;
  for (const item of callsByLane[index]) {
    if (item.time > view[1]) break;
    if (item.end < view[0]) continue;
    const end = xOf(item.end);
    if (end <= until) continue;
    bar(item.time, item.end, y + 8, LANE - 16, calls[item.index][5] ? inks.warn : inks.tool, 1);
    until = Math.max(end, xOf(item.time) + 1);
  }
  const list = marks[index], start = firstAt(list, view[0]);
  const seen = new Set();
  for (let at = start; at < list.length && list[at].time <= view[1]; at++) {
    const r = records[list[at].index];
    let end = r.time;
    for (let i = (r.commands?.length ?? 0) - 1; i >= 0; i--) {
      const c = r.commands[i];
      bar(end - c.duration_ms, end, y + 5, LANE - 10, c.exit_code === 0 ? inks.command : inks.bad, 1);
      end -= c.duration_ms;
    }
    const x = Math.round(xOf(r.time)), kind = colour(r.decision), key = `${x} ${kind}`;
    if (x < gutter || seen.has(key)) continue;
    seen.add(key);
    pen.fillStyle = inks[kind];
    if (kind === 'good') pen.fillRect(x - 1, y + 4, 2, LANE - 8);
    else if (kind === 'bad') { pen.beginPath(); pen.moveTo(x, y + 2); pen.lineTo(x + 6, middle); pen.lineTo(x, y + LANE - 2); pen.lineTo(x - 6, middle); pen.fill(); }
    else { pen.beginPath(); pen.arc(x, middle, 4, 0, 7); pen.fill(); }
  }
  for (const item of hooksByLane[index]) {
    const x = xOf(item.time);
    if (x < gutter || x > width) continue;
    pen.strokeStyle = inks.warn; pen.lineWidth = 2;
    pen.beginPath(); pen.moveTo(x - 4, middle - 4); pen.lineTo(x + 4, middle + 4); pen.moveTo(x + 4, middle - 4); pen.lineTo(x - 4, middle + 4); pen.stroke(); pen.lineWidth = 1;
  }
  if (selected >= 0 && records[shown[selected]].lane === index) {
    const x = xOf(records[shown[selected]].time);
    if (x >= gutter) { pen.strokeStyle = inks.accent; pen.lineWidth = 2; pen.strokeRect(x - 8, y + 1, 16, LANE - 2); pen.lineWidth = 1; }
  }
  pen.fillStyle = inks.panel; pen.fillRect(0, y, gutter - 2, LANE);
  pen.fillStyle = lane.state === 'never_stopped' ? inks.bad : lane.id === undefined ? inks.text : inks.dim;
  pen.textAlign = 'left'; pen.save(); pen.beginPath(); pen.rect(6, y, gutter - 14, LANE); pen.clip(); pen.fillText(clean(laneLabel(lane)), 8, middle); pen.restore();
}
function zoom(factor, around) {
  const middle = around ?? (view[0] + view[1]) / 2;
  const least = 5, span = Math.max(least, Math.min(whole[1] - whole[0], (view[1] - view[0]) * factor));
  const share = (middle - view[0]) / (view[1] - view[0]);
  pan(middle - span * share, span);
}
function pan(from, span = view[1] - view[0]) {
  const start = Math.max(whole[0], Math.min(whole[1] - span, from));
  view = [start, start + span];
  draw();
}
function itemAt(event) {
  const area = canvas.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
  const index = shownLanes[Math.floor((y - AXIS + timeline.scrollTop) / LANE)];
  if (y < AXIS || index === undefined) return undefined;
  if (x < gutter) return { lane: index };
  const near = (view[1] - view[0]) / (width - gutter) * 7, time = timeAt(x);
  const closest = list => { const at = firstAt(list, time - near); let best; for (let i = at; i < list.length && list[i].time <= time + near; i++) if (!best || Math.abs(list[i].time - time) < Math.abs(best.time - time)) best = list[i]; return best; };
  const hook = closest(hooksByLane[index]), mark = closest(marks[index]);
  if (hook) return { hook: hook.index };
  if (mark) return { record: mark.index };
  const call = callsByLane[index].find(item => item.time <= time + near / 3 && item.end >= time - near / 3);
  return call ? { call: call.index } : { lane: index };
}
function describe(item) {
  if (item.record !== undefined) { const r = records[item.record]; return `${moment(r.time)}\n${r.event} ${r.decision}\n${what(r).slice(0, 500)}`; }
  if (item.hook !== undefined) { const h = hooks[item.hook]; return `${moment(h.time)}\n${h.hook}: ${h.kind}\n${h.command ?? ''}`; }
  if (item.call !== undefined) { const c = calls[item.call]; return `${moment(c[1])}\n${c[3]} ${c[4] ?? ''}\n${c[2] === null ? 'no result' : duration(c[2])}${c[5] ? ` · ${c[5]}` : ''}`; }
  const lane = lanes[item.lane];
  return `${laneLabel(lane).trim()}\n${moment(lane.started)} · ${duration(lane.ended - lane.started)}\n${stateOf(lane)}`;
}
const tip = $('tip');
let drag;
canvas.addEventListener('mousemove', event => {
  if (drag) { pan(drag.from - (event.clientX - drag.x) / (width - gutter) * (view[1] - view[0])); drag.moved ||= Math.abs(event.clientX - drag.x) > 3; return; }
  const item = itemAt(event);
  tip.hidden = !item;
  if (!item) return;
  fill(tip, describe(item));
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
});
canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
canvas.addEventListener('mousedown', event => { drag = { x: event.clientX, from: view[0], moved: false }; });
window.addEventListener('mouseup', event => {
  const was = drag; drag = undefined;
  if (!was || was.moved || event.target !== canvas) return;
  const item = itemAt(event);
  if (!item) return;
  if (item.record !== undefined) select(shown.indexOf(item.record), true);
  else if (item.lane !== undefined) showLane(lanes[item.lane]);
  else showDetails(item.hook === undefined ? 'Tool call' : 'Hook that failed silently', [['', describe(item), 'mono'], ['error', hooks[item.hook]?.stderr, 'mono']]);
});
canvas.addEventListener('wheel', event => {
  if (event.ctrlKey || event.altKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(view[0] + event.deltaX / (width - gutter) * (view[1] - view[0]));
    else zoom(event.deltaY > 0 ? 1.25 : .8, timeAt(event.clientX - canvas.getBoundingClientRect().left));
  }
}, { passive: false });
timeline.addEventListener('scroll', draw);
new ResizeObserver(resize).observe(timeline);
$('zoom-in').onclick = () => zoom(.5); $('zoom-out').onclick = () => zoom(2); $('zoom-all').onclick = () => { view = [...whole]; draw(); };

// ---- tables

const MAX_TABLE = 500;
function table(columns, list, { open, order } = {}) {
  let sorted = list, by = order ?? -1, down = true;
  const body = el('tbody'), head = el('tr');
  const render = () => {
    if (by >= 0) { const key = columns[by].key ?? columns[by].value; sorted = [...list].sort((a, b) => { const x = key(a) ?? '', y = key(b) ?? ''; return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1); }); }
    const lines = sorted.slice(0, MAX_TABLE).map(item => el('tr', open ? { tabindex: 0, on: { click: () => open(item), keydown: event => { if (event.key === 'Enter') open(item); } } } : {},
      columns.map(column => el('td', { class: `${column.number ? 'n ' : ''}${column.style?.(item) ?? ''}` }, column.value(item) ?? ''))));
    if (list.length > MAX_TABLE) lines.push(el('tr', {}, el('td', { colspan: columns.length, class: 'dim' }, `and ${number(list.length - MAX_TABLE)} more`)));
    body.replaceChildren(...lines);
  };
  columns.forEach((column, index) => head.append(el('th', { class: column.number ? 'n' : '' }, el('button', { type: 'button', on: { click: () => { down = by === index ? !down : true; by = index; render(); } } }, column.name))));
  render();
  return el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, head), body));
}
const section = (id, title, count, ...children) => el('section', { id }, el('h2', {}, title, ' ', el('small', {}, count === undefined ? '' : number(count))), children);
const none = text => el('p', { class: 'dim' }, text);
const decisionsOf = lane => Object.entries(lane.decisions).map(([name, n]) => `${n} ${name}`).join(', ');
function agentsTable() {
  const list = shownLanes.map(index => lanes[index]).filter(lane => lane.session !== undefined);
  const hasCost = list.some(lane => lane.cost !== undefined);
  const columns = [
    { name: 'agent', value: laneName }, { name: 'task', value: lane => lane.description }, { name: 'session', value: lane => short(sessions[lane.session].id) },
    { name: 'started', value: lane => moment(lane.started), key: lane => lane.started }, { name: 'time', number: true, value: lane => duration(lane.ended - lane.started), key: lane => lane.ended - lane.started },
    { name: 'tokens in', number: true, value: lane => number(lane.tokens.input), key: lane => lane.tokens.input }, { name: 'out', number: true, value: lane => number(lane.tokens.output), key: lane => lane.tokens.output },
    { name: 'cache read', number: true, value: lane => number(lane.tokens.cache_read), key: lane => lane.tokens.cache_read }, { name: 'cache written', number: true, value: lane => number(lane.tokens.cache_write), key: lane => lane.tokens.cache_write },
    ...(hasCost ? [{ name: 'cost', number: true, value: lane => money(lane.cost), key: lane => lane.cost ?? 0 }] : []),
    { name: 'calls', number: true, value: lane => number(lane.tools), key: lane => lane.tools }, { name: 'files', number: true, value: lane => number(lane.files.length), key: lane => lane.files.length },
    { name: 'decisions', value: decisionsOf }, { name: 'state', value: stateOf, style: lane => STATES[lane.state]?.[1] }];
  const notes = [];
  if (!hasCost && list.some(lane => lane.messages)) notes.push(none('No cost: give the prices of your models in the config, under report.prices.'));
  else if (data.unpriced.length) notes.push(none(`Without a price in the config, and not in the cost: ${data.unpriced.join(', ')}.`));
  return section('agents-section', 'Agents', list.length, list.length ? table(columns, list, { open: showLane }) : none('No agents.'), notes);
}
function phasesOf(step) {
  const good = phase => /^EXECUTED$/i.test(phase.status ?? '') ? (/^FAIL/i.test(phase.outcome ?? '') ? 'bad' : 'good') : /^SKIPPED$/i.test(phase.status ?? '') ? 'warn' : /^IN_PROGRESS$/i.test(phase.status ?? '') ? 'ask' : 'dim';
  return el('div', { class: 'phases' }, step.phases.map(phase => el('span', { class: `phase ${good(phase)}`, title: clean(`${phase.status ?? 'NOT_EXECUTED'} ${phase.outcome ?? ''} ${phase.blocked_by ?? ''}`) }, phase.name)));
}
function filesTable() {
  const files = new Map();
  for (const index of shownLanes) for (const [path, n] of lanes[index].files) { const file = files.get(path) ?? { path, writes: 0, agents: new Set() }; file.writes += n; file.agents.add(laneName(lanes[index])); files.set(path, file); }
  const list = [...files.values()];
  return section('files-section', 'Files written', list.length, list.length ? table([{ name: 'file', value: file => file.path }, { name: 'writes', number: true, value: file => number(file.writes), key: file => file.writes }, { name: 'agents', value: file => [...file.agents].join(', ') }], list, { order: 1 }) : none('No tool wrote a file, as far as the transcripts show.'));
}
function drawSections() {
  const inView = new Set(shownLanes), counts = new Map(), commands = new Map();
  for (const index of shown) {
    const r = records[index];
    for (const f of r.findings ?? []) { const found = counts.get(f.code) ?? { code: f.code, count: 0, agents: new Set(), example: f.what }; found.count++; found.agents.add(laneName(lanes[r.lane])); counts.set(f.code, found); }
    for (const c of [...(r.commands ?? []), ...(r.evidence?.command ? [{ run: r.evidence.command, exit_code: r.evidence.exit_code, duration_ms: r.evidence.duration_ms ?? 0 }] : [])]) {
      const found = commands.get(c.run) ?? { run: c.run, runs: 0, failures: 0, total: 0, max: 0 };
      found.runs++; found.failures += c.exit_code === 0 ? 0 : 1; found.total += c.duration_ms; found.max = Math.max(found.max, c.duration_ms); commands.set(c.run, found);
    }
  }
  const silent = hooks.filter(hook => inView.has(hook.lane)), lost = shownLanes.map(index => lanes[index]).filter(lane => lane.state === 'never_stopped');
  const kinds = [...counts.values()], ran = [...commands.values()];
  const chain = data.chain;
  fill($('sections'), agentsTable(), filesTable(),
    section('steps-section', 'Steps', data.steps.length, data.steps.length ? table([{ name: 'step', value: step => step.step }, { name: 'task', value: step => step.name }, { name: 'state', value: step => step.problem ?? step.state, style: step => step.problem || /FAIL/.test(step.state) ? 'bad' : /DONE/.test(step.state) ? 'good' : '' }, { name: 'phases', value: phasesOf }], data.steps) : none('No step files were named.')),
    section('findings-section', 'Findings by kind', kinds.length, kinds.length ? table([{ name: 'kind', value: f => f.code }, { name: 'count', number: true, value: f => number(f.count), key: f => f.count }, { name: 'agents', value: f => [...f.agents].join(', ') }, { name: 'for example', value: f => f.example }], kinds, { order: 1 }) : none('No findings.')),
    section('commands-section', 'Slowest commands', ran.length, ran.length ? table([{ name: 'command', value: c => el('code', {}, c.run) }, { name: 'runs', number: true, value: c => number(c.runs), key: c => c.runs }, { name: 'failures', number: true, value: c => number(c.failures), key: c => c.failures, style: c => c.failures ? 'bad' : '' }, { name: 'mean', number: true, value: c => duration(c.total / c.runs), key: c => c.total / c.runs }, { name: 'longest', number: true, value: c => duration(c.max), key: c => c.max }, { name: 'in all', number: true, value: c => duration(c.total), key: c => c.total }], ran, { order: 4 }) : none('No commands ran.')),
    section('hooks-section', 'Hooks that failed silently', silent.length, silent.length ? table([{ name: 'time', value: h => moment(h.time), key: h => h.time }, { name: 'hook', value: h => h.hook }, { name: 'what', value: h => h.kind, style: () => 'warn' }, { name: 'agent', value: h => laneName(lanes[h.lane]) }, { name: 'command', value: h => el('code', {}, h.command) }, { name: 'took', number: true, value: h => duration(h.duration_ms), key: h => h.duration_ms }, { name: 'error', value: h => h.stderr }], silent) : none('None: Claude Code wrote of no hook that failed or was cancelled.')),
    section('lost-section', 'Agents that started and never stopped', lost.length, lost.length ? table([{ name: 'agent', value: laneName }, { name: 'id', value: lane => lane.id }, { name: 'task', value: lane => lane.description }, { name: 'started', value: lane => moment(lane.started), key: lane => lane.started }, { name: 'last seen', value: lane => moment(lane.ended), key: lane => lane.ended }, { name: 'why', value: lane => lane.why }], lost, { open: showLane }) : none('None.')),
    section('chain-section', 'The audit trail', undefined, el('p', { class: chain.problem ? 'bad' : 'good' }, chain.problem ? `✗ ${chain.problem} (${number(chain.records)} records before it are in order)` : `✓ ${number(chain.records)} records in order`), [...chain.warnings.map(text => el('p', { class: 'warn' }, `⚠ ${text}`)), ...chain.notes.map(text => el('p', { class: 'dim' }, text))]),
    section('read-section', 'What was read', undefined, el('p', { class: 'dim' }, `${number(data.transcripts.files)} transcripts with ${number(data.transcripts.lines)} lines (${(data.transcripts.bytes / 1e6).toFixed(1)} MB)${data.transcripts.versions.length ? `, written by Claude Code ${data.transcripts.versions.join(', ')}` : ''}.`), [...data.transcripts.problems, ...data.left_out].map(text => el('p', { class: 'warn' }, `⚠ ${text}`))));
  drawCards(lost.length, silent.length);
}
function drawCards(lost, silent) {
  const list = shownLanes.map(index => lanes[index]), sum = of => list.reduce((total, lane) => total + (of(lane) ?? 0), 0);
  const decisions = {};
  for (const index of shown) decisions[records[index].decision] = (decisions[records[index].decision] ?? 0) + 1;
  const cost = list.some(lane => lane.cost !== undefined) ? money(sum(lane => lane.cost)) : undefined;
  const cards = [['sessions', number(new Set(list.map(lane => lane.session).filter(one => one !== undefined)).size)], ['subagents', number(list.filter(lane => lane.id !== undefined).length)], ['tool calls', number(sum(lane => lane.tools))],
    ['tokens out', number(sum(lane => lane.tokens.output))], ...(cost ? [['cost', cost]] : []), ['records', number(shown.length)], ['blocked', number(decisions.blocked ?? 0), decisions.blocked && 'bad'], ['denied', number(decisions.denied ?? 0), decisions.denied && 'bad'],
    ['failed hooks', number(silent), silent && 'warn'], ['never stopped', number(lost), lost && 'bad']];
  fill($('cards'), cards.map(([name, value, style]) => el('div', { class: 'card' }, el('b', { class: style || '' }, value), el('span', {}, name))));
}

// ---- controls

function option(value, text) { return el('option', { value }, text); }
function controls() {
  fill($('session'), option('', 'all sessions'), sessions.map((session, index) => option(index, `${short(session.id)} · ${moment(session.started)}`)));
  const names = [...new Set(lanes.map(laneName))].sort();
  fill($('agent'), option('', 'all agents'), names.map(name => option(clean(name), name)));
  const decisions = [...new Set(records.map(r => r.decision))].sort();
  fill($('decisions'), decisions.map(name => el('button', { type: 'button', 'aria-pressed': 'false', 'data-decision': clean(name), on: { click: event => {
    const on = !filter.decisions.delete(name);
    if (on) filter.decisions.add(name);
    event.target.setAttribute('aria-pressed', String(on));
    applyFilter();
  } } }, name)), ' ');
  let timer;
  $('search').addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(() => { filter.text = $('search').value; applyFilter(); }, 120); });
  $('session').addEventListener('change', () => { filter.session = $('session').value; applyFilter(); });
  $('agent').addEventListener('change', () => { filter.agent = $('agent').value; applyFilter(); });
  $('filters').addEventListener('submit', event => event.preventDefault());
  $('clear').onclick = clear;
  $('theme').onclick = theme; $('keys').onclick = () => $('help').showModal();
}
function clear() {
  filter.text = filter.session = filter.agent = ''; filter.decisions.clear();
  $('search').value = ''; $('session').value = ''; $('agent').value = '';
  for (const button of $('decisions').querySelectorAll('button')) button.setAttribute('aria-pressed', 'false');
  applyFilter();
}
function theme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
  draw();
}
// The list takes the focus, so that Enter is for the record and for no button.
const step = by => { box.focus({ preventScroll: true }); select(selected + by); };
const KEYS = { '/': ['search', () => $('search').focus()], j: ['next record', () => step(1)], k: ['previous record', () => step(-1)], Enter: ['details of the record', () => select(Math.max(0, selected), true)],
  '+': ['zoom in', () => zoom(.5)], '-': ['zoom out', () => zoom(2)], '0': ['whole timeline', () => { view = [...whole]; draw(); }], ArrowLeft: ['earlier', () => pan(view[0] - (view[1] - view[0]) / 4)], ArrowRight: ['later', () => pan(view[0] + (view[1] - view[0]) / 4)],
  c: ['clear the filter', clear], t: ['light or dark', theme], '?': ['these keys', () => $('help').showModal()], Escape: ['close', hideDetails] };
KEYS['='] = KEYS['+'];
function keyboard() {
  fill($('help'), el('h2', {}, 'Keys'), el('table', {}, Object.entries(KEYS).filter(([key]) => key !== '=').map(([key, [name]]) => el('tr', {}, el('td', {}, el('kbd', {}, key)), el('td', {}, name)))),
    el('p', { class: 'dim' }, 'In the timeline: drag to move, Ctrl or Shift and the wheel to zoom, click for details.'), el('form', { method: 'dialog' }, el('button', {}, 'Close')));
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '');
    if (typing) { if (event.key === 'Escape') document.activeElement.blur(); return; }
    let key = event.key;
    if (document.activeElement === box && key === 'ArrowDown') key = 'j';
    if (document.activeElement === box && key === 'ArrowUp') key = 'k';
    if (key === 'Enter' && document.activeElement?.matches('button, tr, summary')) return;
    if (KEYS[key]) { event.preventDefault(); KEYS[key][1](); }
  });
}
function legend() {
  const entries = [['command', 'command'], ['bad', 'blocked, denied'], ['ask', 'asked'], ['warn', 'warning, failed hook'], ['good', 'allowed'], ['tool', 'tool call']];
  fill($('legend'), entries.map(([ink, name]) => { const box = el('i'); box.style.background = `var(--${ink})`; return [box, name]; }).flat());
}
// Rows that are not in view do not exist, so the printed page has a list of its own.
window.addEventListener('beforeprint', () => {
  const max = 1000, list = shown.slice(0, max).map((_, at) => rowOf(at));
  if (shown.length > max) list.push(el('p', {}, `and ${number(shown.length - max)} more: filter them before printing`));
  $('printed').replaceChildren(...list);
});
window.addEventListener('afterprint', () => $('printed').replaceChildren());
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

controls(); keyboard(); legend();
fill($('about'), data.project, ' · ', data.range);
fill($('chain-badge'), el('span', { class: data.chain.problem ? 'bad' : 'good' }, data.chain.problem ? '✗ audit trail broken' : '✓ audit trail in order'));
fill($('footer'), `Made by conclaude ${data.version} at ${moment(data.generated)}. Everything is in this file; nothing is loaded from anywhere.`);
applyFilter();
document.documentElement.dataset.ready = 'true';
})();
