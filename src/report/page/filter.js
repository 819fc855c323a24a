// ---- filter: which records, calls, hooks and lanes are shown

const filter = { text: '', session: '', agent: '', decisions: new Set() };
const isFiltered = () => filter.text.trim() !== '' || filter.session !== '' || filter.agent !== '' || filter.decisions.size > 0;
const tasks = new Map(data.steps.map(step => [step.step, step.name ?? '']));
const texts = new Array(records.length), callTexts = new Array(calls.length);
function textOf(index) {
  if (texts[index] === undefined) {
    const r = records[index], lane = lanes[r.lane];
    const tool = r.more?.tool;
    texts[index] = `${r.seq} ${r.event} ${words(r.decision)} ${r.decision} ${warned[index] ? 'warning' : ''} ${laneName(lane)} ${lane.id ?? ''} ${what(r)} ${r.step ? tasks.get(r.step) ?? '' : ''} ${tool ? `${tool.name} ${tool.file ?? tool.command ?? ''}` : ''}`.toLowerCase();
  }
  return texts[index];
}
const callText = index => callTexts[index] ??= `${calls[index][3]} ${calls[index][4] ?? ''} ${calls[index][5] ?? ''}`.toLowerCase();
const laneText = lane => `${laneName(lane)} ${lane.session === undefined ? '' : `${sessions[lane.session].name ?? ''} ${sessions[lane.session].id} ${sessions[lane.session].project ?? ''}`} ${lane.usage.map(cell => cell.branch ?? '').join(' ')} ${lane.id ?? ''} ${lane.description ?? ''} ${lane.models.join(' ')} ${lane.files.map(([path]) => path).join(' ')} ${stateOf(lane)}`.toLowerCase();
const hookText = hook => `${hook.hook} ${hook.kind} ${hook.command ?? ''} ${hook.stderr ?? ''} ${laneName(lanes[hook.lane])}`.toLowerCase();

const hit = new Uint8Array(records.length).fill(1), callHit = new Uint8Array(calls.length).fill(1);
let shown = [], shownLanes = [], shownHooks = [], selected = -1;

function applyFilter() {
  const wanted = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = text => wanted.every(word => text.includes(word));
  const ok = lanes.map(lane => (filter.session === '' || String(lane.session) === filter.session) && (filter.agent === '' || clean(laneName(lane)) === filter.agent));
  const narrow = wanted.length > 0 || filter.decisions.size > 0, found = new Set();
  shown = [];
  for (let i = 0; i < records.length; i++) {
    const r = records[i];
    hit[i] = ok[r.lane] && (!filter.decisions.size || filter.decisions.has(r.decision)) && (!wanted.length || matches(textOf(i))) ? 1 : 0;
    if (hit[i]) { shown.push(i); found.add(r.lane); }
  }
  // A hook has no decision: what is chosen of those says nothing of it.
  shownHooks = hooks.filter(hook => ok[hook.lane] && (!wanted.length || matches(hookText(hook))));
  if (wanted.length && !filter.decisions.size) {
    for (const hook of shownHooks) found.add(hook.lane);
    for (let i = 0; i < calls.length; i++) { callHit[i] = ok[calls[i][0]] && matches(callText(i)) ? 1 : 0; if (callHit[i]) found.add(calls[i][0]); }
    lanes.forEach((lane, index) => { if (ok[index] && matches(laneText(lane))) found.add(index); });
  } else callHit.fill(1);
  shownLanes = lanes.map((_, index) => index).filter(index => ok[index] && (!narrow || found.has(index)));
  fill($('records-count'), shown.length === records.length ? number(records.length) : `${number(shown.length)} of ${number(records.length)}`);
  $('clear').disabled = !isFiltered();
  selected = -1;
  drawRows(true);
  sizeTimeline();
  drawSoon();
}
// Who types sees the records first, and the tables below them when there is time.
let soonest;
function drawSoon() {
  const root = document.documentElement;
  if (!root.dataset.ready) return drawSections();
  root.dataset.busy = 'true';
  clearTimeout(soonest);
  soonest = setTimeout(() => { drawSections(); delete root.dataset.busy; }, 20);
}

// The first search should not wait for the texts of all records.
function prepareTexts(from = 0) {
  const until = performance.now() + 8;
  let at = from;
  while (at < records.length && performance.now() < until) for (const end = Math.min(records.length, at + 200); at < end; at++) textOf(at);
  if (at < records.length) setTimeout(prepareTexts, 4, at);
}
