// ---- timeline: lanes on a canvas; only what is in view is drawn

const AXIS = 24, canvas = $('canvas'), timeline = $('timeline'), pen = canvas.getContext('2d');
// On a narrow screen the name of a lane is above its bars.
let LANE = 24, isNarrow = false, gutter = 230, view = [0, 1], whole = [0, 1], width = 800, height = 200;
const times = Float64Array.from(records, r => r.time), kinds = records.map((r, index) => warned[index] ? 'warned' : markOf(r.decision));
const spent = Float64Array.from(records, r => commandsOf(r).reduce((sum, c) => sum + took(c), 0));
function byLane(list, laneOf, timeOf) {
  const found = lanes.map(() => []);
  for (let i = 0; i < list.length; i++) found[laneOf(list[i])].push(i);
  for (const one of found) one.sort((a, b) => timeOf(list[a]) - timeOf(list[b]));
  return found;
}
const marksByLane = byLane(records, r => r.lane, r => r.time), callsByLane = byLane(calls, c => c[0], c => c[1]), hooksByLane = byLane(hooks, h => h.lane, h => h.time);

// ---- time: what nobody did anything in is folded, so that a week does not hide its hours

const folds = findFolds();
let folded = true;
function findFolds() {
  const points = [], long = 3e5;
  const span = (from, to) => { points.push(from); for (let at = from + long; at < to && points.length < 5e5; at += long) points.push(at); points.push(to); };
  for (const lane of lanes) if (lane.started !== undefined) points.push(lane.started, lane.ended ?? lane.started);
  for (const call of calls) span(call[1], call[1] + Math.min(call[2] ?? 0, 864e5));
  for (let i = 0; i < records.length; i++) if (times[i] > 0) span(times[i] - Math.min(spent[i], 864e5), times[i]);
  const sorted = Float64Array.from(points).sort();
  let busy = 0;
  for (let i = 1; i < sorted.length; i++) busy += Math.min(sorted[i] - sorted[i - 1], 6e5);
  const least = Math.max(6e5, busy / 12), found = [];
  let saved = 0;
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i] - sorted[i - 1];
    if (gap <= least) continue;
    // It stays as wide as this, and has room before and after it.
    const room = busy / 60 + 1e3, kept = Math.max(room, busy / 22);
    if (gap - 2 * room <= kept) continue;
    found.push({ from: sorted[i - 1] + room, to: sorted[i] - room, start: sorted[i - 1] + room - saved, kept });
    saved += gap - 2 * room - kept;
  }
  return found;
}
// A moment as the timeline counts it, without what is folded, and back.
function inFolded(ms) {
  if (!folded) return ms;
  let low = 0, high = folds.length;
  while (low < high) { const middle = (low + high) >> 1; if (folds[middle].from < ms) low = middle + 1; else high = middle; }
  if (!low) return ms;
  const fold = folds[low - 1];
  return fold.start + (ms >= fold.to ? fold.kept + ms - fold.to : (ms - fold.from) / (fold.to - fold.from) * fold.kept);
}
function fromFolded(at) {
  if (!folded) return at;
  let low = 0, high = folds.length;
  while (low < high) { const middle = (low + high) >> 1; if (folds[middle].start < at) low = middle + 1; else high = middle; }
  if (!low) return at;
  const fold = folds[low - 1], past = at - fold.start;
  return past >= fold.kept ? fold.to + past - fold.kept : fold.from + past / fold.kept * (fold.to - fold.from);
}

// ---- size, zoom

function bounds(of) {
  let low = Infinity, high = -Infinity;
  const take = ms => { if (ms !== undefined && ms !== null && ms > 0) { if (ms < low) low = ms; if (ms > high) high = ms; } };
  for (const index of of) { take(lanes[index].started); take(lanes[index].ended); }
  if (low > high) return [0, 1000];
  const from = inFolded(low), to = inFolded(high), room = Math.max(500, (to - from) * .015);
  return [from - room, to + room];
}
function sizeTimeline() {
  whole = bounds(shownLanes);
  view = [...whole];
  isNarrow = timeline.clientWidth < 600; LANE = isNarrow ? 42 : 24;
  const total = Math.max(1, shownLanes.length) * LANE + AXIS + 4;
  timeline.style.height = `${Math.min(total + 2, 576)}px`;
  $('spacer').style.height = `${total}px`;
  resize();
}
function resize(ratio = window.devicePixelRatio || 1) {
  width = timeline.clientWidth; height = timeline.clientHeight;
  gutter = isNarrow ? 8 : width < 1000 ? 210 : 300;
  canvas.width = width * ratio; canvas.height = height * ratio;
  canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw();
}
const scaled = at => gutter + (at - view[0]) / (view[1] - view[0]) * (width - gutter);
const xOf = ms => scaled(inFolded(ms));
const foldedAt = x => view[0] + (x - gutter) / (width - gutter) * (view[1] - view[0]);
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
function showAll() { view = [...whole]; draw(); }
function showIdle() {
  folded = !folded;
  $('idle').setAttribute('aria-pressed', String(!folded));
  sizeTimeline();
}
// Makes sure that a record can be seen.
function reveal(r) {
  const at = inFolded(r.time), lane = shownLanes.indexOf(r.lane), span = view[1] - view[0];
  if (at < view[0] || at > view[1]) view = [at - span / 2, at + span / 2];
  if (lane >= 0 && (lane * LANE < timeline.scrollTop || (lane + 1) * LANE + AXIS > timeline.scrollTop + height)) timeline.scrollTop = lane * LANE - height / 2;
  draw();
}

// ---- drawing

let pending = false;
function draw() { if (!pending) { pending = true; requestAnimationFrame(() => { pending = false; paint(); }); } }
function inksOf() {
  const css = getComputedStyle(document.documentElement);
  return Object.fromEntries(['bg', 'panel', 'raised', 'line', 'text', 'dim', 'good', 'bad', 'warn', 'ask', 'tool', 'command', 'life', 'accent'].map(name => [name, css.getPropertyValue(`--${name}`).trim()]));
}
function paint() {
  const inks = inksOf(), scroll = timeline.scrollTop;
  pen.fillStyle = inks.panel; pen.fillRect(0, 0, width, height);
  pen.font = '12.5px system-ui, sans-serif'; pen.textBaseline = 'middle';
  const first = Math.max(0, Math.floor((scroll - 4) / LANE)), last = Math.min(shownLanes.length, Math.ceil((scroll + height - AXIS) / LANE));
  for (let at = first; at < last; at++) if (lanes[shownLanes[at]].id === undefined) { pen.fillStyle = inks.raised; pen.fillRect(0, AXIS + 4 + at * LANE - scroll, width, LANE); }
  const ticks = ticksOf();
  pen.strokeStyle = inks.line;
  for (const [x] of ticks) { pen.beginPath(); pen.moveTo(x, AXIS); pen.lineTo(x, height); pen.stroke(); }
  for (let at = first; at < last; at++) paintLane(lanes[shownLanes[at]], shownLanes[at], AXIS + 4 + at * LANE - scroll, inks);
  if (!shownLanes.length) { pen.fillStyle = inks.dim; pen.textAlign = 'left'; pen.fillText('Nothing matches the filter.', 14, AXIS + 16); }
  paintFolds(inks);
  if (isNarrow) for (let at = first; at < last; at++) { const y = AXIS + 4 + at * LANE - scroll; paintLabel(lanes[shownLanes[at]], y, y + 11, inks); }
  paintAxis(ticks, inks);
}
const STEPS = [1, 5, 10, 50, 100, 500, 1e3, 5e3, 1e4, 3e4, 6e4, 3e5, 6e5, 18e5, 36e5, 108e5, 216e5, 432e5, 864e5, 6048e5, 2592e6];
// Where there is a line, and what it says; across a fold they go on with the next round moment.
function ticksOf() {
  const span = view[1] - view[0], step = STEPS.find(ms => span / ms * 92 < width - gutter) ?? STEPS.at(-1), found = [];
  const from = fromFolded(view[0]), to = fromFolded(view[1]), inView = folded ? folds.filter(fold => fold.to > from && fold.from < to) : [];
  const starts = [from, ...inView.map(fold => fold.to)], ends = [...inView.map(fold => fold.from), to];
  let last = -100, lastDay = '';
  starts.forEach((start, index) => {
    const zone = new Date(start).getTimezoneOffset() * 6e4;
    for (let ms = Math.ceil((start - zone) / step) * step + zone; ms < ends[index] && found.length < 500; ms += step) {
      const x = Math.round(xOf(ms)) + .5, label = step >= 864e5 ? day(ms) : clock(ms, step < 1000).slice(0, step < 1000 ? 12 : step < 6e4 ? 8 : 5);
      const head = step >= 864e5 || day(ms) === lastDay ? '' : date(ms);
      if (x - last < 60) { found.push([x, '']); continue; }
      const wide = head && x - last > 90;
      if (wide) lastDay = day(ms);
      last = x + (wide ? 40 : 0);
      found.push([x, label, wide ? head : '']);
    }
  });
  return found;
}
function paintAxis(ticks, inks) {
  pen.fillStyle = inks.panel; pen.fillRect(0, 0, width, AXIS);
  pen.strokeStyle = inks.line; pen.beginPath(); pen.moveTo(0, AXIS + .5); pen.lineTo(width, AXIS + .5); pen.stroke();
  pen.textAlign = 'left';
  for (const [x, label, date] of ticks) {
    if (!label || x < gutter) continue;
    const text = date ? `${date} ${label}` : label;
    pen.fillStyle = inks.dim;
    // One that is cut off by the edge would be another time.
    if (x + 4 + pen.measureText(text).width < width) pen.fillText(text, x + 4, AXIS / 2 + 1);
    pen.beginPath(); pen.moveTo(x, AXIS - 6); pen.lineTo(x, AXIS); pen.stroke();
  }
}
function paintFolds(inks) {
  if (!folded) return;
  for (const fold of folds) {
    const x = Math.max(gutter, scaled(fold.start)), end = Math.min(width, scaled(fold.start + fold.kept));
    if (end <= gutter || x >= width || end - x < 2) continue;
    pen.save(); pen.beginPath(); pen.rect(x, AXIS, end - x, height); pen.clip();
    pen.fillStyle = inks.bg; pen.fillRect(x, AXIS, end - x, height);
    pen.strokeStyle = inks.line; pen.beginPath();
    for (let at = x - height; at < end; at += 7) { pen.moveTo(at, height); pen.lineTo(at + height, 0); }
    pen.stroke(); pen.restore();
    const text = duration(fold.to - fold.from), size = pen.measureText(text).width;
    if (end - x > size + 6) {
      pen.fillStyle = inks.bg; pen.fillRect((x + end - size) / 2 - 3, AXIS + (height - AXIS) / 2 - 9, size + 6, 18);
      pen.fillStyle = inks.dim; pen.textAlign = 'center'; pen.fillText(text, (x + end) / 2, AXIS + (height - AXIS) / 2);
    }
  }
}
function markOf(decision) { return decision === 'denied' ? 'denied' : decision === 'asked' ? 'asked' : { bad: 'blocked', warn: 'warned', ask: 'asked', good: 'allowed' }[colour(decision)]; }
const MARKS = { blocked: 'bad', denied: 'bad', asked: 'ask', warned: 'warn', allowed: 'good', hook: 'warn' };
function mark(to, kind, x, y, inks) {
  to.fillStyle = to.strokeStyle = inks[MARKS[kind]];
  to.beginPath();
  if (kind === 'blocked') { to.moveTo(x, y - 8); to.lineTo(x + 6.5, y); to.lineTo(x, y + 8); to.lineTo(x - 6.5, y); to.fill(); }
  else if (kind === 'denied') { to.arc(x, y, 6, 0, 7); to.fill(); to.fillStyle = inks.panel; to.fillRect(x - 3.5, y - 1, 7, 2); }
  else if (kind === 'asked') { to.arc(x, y, 5, 0, 7); to.fill(); }
  else if (kind === 'warned') { to.moveTo(x, y - 6); to.lineTo(x + 6, y + 5); to.lineTo(x - 6, y + 5); to.fill(); }
  else if (kind === 'allowed') to.fillRect(x - 1, y - 7, 2, 14);
  else { to.lineWidth = 2; to.moveTo(x - 4, y - 4); to.lineTo(x + 4, y + 4); to.moveTo(x + 4, y - 4); to.lineTo(x - 4, y + 4); to.stroke(); to.lineWidth = 1; }
}
const firstAt = (list, timeOf, ms) => { let low = 0, high = list.length; while (low < high) { const middle = (low + high) >> 1; if (timeOf(list[middle]) < ms) low = middle + 1; else high = middle; } return low; };
function paintLane(lane, index, y, inks) {
  const middle = y + (isNarrow ? 30 : LANE / 2), from = fromFolded(view[0]), to = fromFolded(view[1]);
  const bar = (start, end, half, ink, least) => {
    const x = Math.max(gutter, xOf(start)), stop = Math.min(width, xOf(end));
    if (stop >= gutter && x <= width) { pen.fillStyle = ink; pen.fillRect(x, middle - half, Math.max(least, stop - x), half * 2); }
  };
  if (lane.started !== undefined) bar(lane.started, lane.ended ?? lane.started, 8, lane.id === undefined ? inks.line : inks.life, 2);
  paintCalls(index, from, to, bar, inks);
  paintRecords(index, from, to, middle, bar, inks);
  for (const hook of hooksByLane[index]) {
    const x = xOf(hooks[hook].time);
    if (x >= gutter && x <= width && shownHooks.includes(hooks[hook])) mark(pen, 'hook', x, middle, inks);
  }
  if (lane.state === 'never_stopped' && lane.ended !== undefined) {
    const x = xOf(lane.ended);
    if (x >= gutter && x <= width) { pen.strokeStyle = inks.bad; pen.lineWidth = 2; pen.setLineDash([3, 2]); pen.beginPath(); pen.moveTo(x, y + 3); pen.lineTo(x, y + LANE - 3); pen.stroke(); pen.setLineDash([]); pen.lineWidth = 1; }
  }
  if (selected >= 0 && records[shown[selected]].lane === index) {
    const x = xOf(records[shown[selected]].time);
    if (x >= gutter) { pen.strokeStyle = inks.accent; pen.lineWidth = 2; pen.strokeRect(x - 9, y + 1.5, 18, LANE - 3); pen.lineWidth = 1; }
  }
  if (!isNarrow) paintLabel(lane, y, middle, inks);
}
// As much of a text as there is room for.
function fit(text, room) {
  const all = clean(text).slice(0, 200);
  if (pen.measureText(all).width <= room) return all;
  let low = 0, high = all.length;
  while (low < high) { const middle = (low + high + 1) >> 1; if (pen.measureText(`${all.slice(0, middle)}…`).width <= room) low = middle; else high = middle - 1; }
  return `${all.slice(0, low)}…`;
}
function paintLabel(lane, y, middle, inks) {
  const isMain = lane.id === undefined;
  pen.fillStyle = isMain ? inks.raised : inks.panel; pen.fillRect(0, y, isNarrow ? width : gutter - 2, isNarrow ? 20 : LANE);
  pen.save(); pen.beginPath(); pen.rect(6, y, (isNarrow ? width : gutter) - 16, LANE); pen.clip();
  pen.textAlign = 'left'; pen.fillStyle = inks.text;
  const end = (isNarrow ? width : gutter) - 14;
  if (isMain) { pen.font = '600 12.5px system-ui, sans-serif'; pen.fillText(fit(laneLabel(lane), end - 14), 14, middle); pen.font = '12.5px system-ui, sans-serif'; }
  else {
    pen.fillStyle = lane.state === 'never_stopped' ? inks.bad : lane.verdict ? inks[colour(lane.verdict)] : lane.state === 'running' ? inks.warn : inks.tool;
    pen.beginPath(); pen.arc(18, middle, 3.5, 0, 7); pen.fill();
    const name = fit(lane.name, end - 28), after = 36 + pen.measureText(name).width;
    pen.fillStyle = inks.text; pen.fillText(name, 28, middle);
    if (lane.description && after < end - 20) { pen.fillStyle = inks.dim; pen.fillText(fit(lane.description, end - after), after, middle); }
  }
  pen.restore();
}
// Calls that fall onto one pixel are one.
function paintCalls(index, from, to, bar, inks) {
  let until = -1;
  for (const at of callsByLane[index]) {
    const call = calls[at], end = call[1] + (call[2] ?? 0);
    if (call[1] > to) break;
    if (end < from) continue;
    const x = xOf(end);
    if (x <= until) continue;
    pen.globalAlpha = callHit[at] ? 1 : .25;
    bar(call[1], end, 4, call[5] ? inks.warn : inks.tool, 1.5);
    until = Math.max(x, xOf(call[1]) + 1);
  }
  pen.globalAlpha = 1;
}
const BIN = 4;
function paintRecords(index, from, to, middle, bar, inks) {
  // There is no room beside the names.
  if (width <= gutter) return;
  const list = marksByLane[index], start = firstAt(list, at => times[at], from), end = firstAt(list, at => times[at], to);
  // Where marks would hide each other, columns say how many of them there are of each kind.
  if (end - start > (width - gutter) / 5) return paintShares(list, start, end, middle, inks);
  for (const isMark of [false, true]) for (let at = start; at < end; at++) {
    const i = list[at], r = records[i];
    if (!hit[i]) continue;
    if (isMark) { const x = xOf(times[i]); if (x >= gutter) mark(pen, kinds[i], x, middle, inks); continue; }
    let stop = r.time;
    for (const c of commandsOf(r).reverse()) {
      bar(stop - took(c), stop, 6, hasFailed(c) ? inks[inkOf(c)] : inks.command, 1);
      stop -= took(c);
    }
  }
}
function paintShares(list, start, end, middle, inks) {
  const bins = Math.ceil((width - gutter) / BIN) + 1, counts = new Map(['allowed', 'asked', 'warned', 'denied', 'blocked'].map(kind => [kind, new Float64Array(bins)])), all = new Float64Array(bins);
  for (let at = start; at < end; at++) {
    const i = list[at];
    if (!hit[i]) continue;
    const bin = Math.floor((xOf(times[i]) - gutter) / BIN);
    if (bin >= 0 && bin < bins) { counts.get(kinds[i])[bin]++; all[bin]++; }
  }
  for (let bin = 0; bin < bins; bin++) {
    if (!all[bin]) continue;
    let bottom = middle + 9;
    for (const [kind, found] of [...counts].reverse()) {
      if (!found[bin]) continue;
      // One that is bad among hundreds that are not is still to be seen.
      const size = kind === 'allowed' ? bottom - (middle - 9) : Math.max(3, found[bin] / all[bin] * 18);
      pen.globalAlpha = kind === 'allowed' ? .45 : 1;
      pen.fillStyle = inks[MARKS[kind]]; pen.fillRect(gutter + bin * BIN, bottom - size, BIN - 1, size);
      bottom -= size;
      if (bottom <= middle - 9) break;
    }
  }
  pen.globalAlpha = 1;
}

// ---- mouse

function itemAt(event) {
  const area = canvas.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
  const index = shownLanes[Math.floor((y - AXIS - 4 + timeline.scrollTop) / LANE)];
  if (y < AXIS || index === undefined) return undefined;
  if (x < gutter || (isNarrow && (y - AXIS - 4 + timeline.scrollTop) % LANE < 20)) return { lane: index };
  const low = fromFolded(foldedAt(x - 7)), high = fromFolded(foldedAt(x + 7)), time = fromFolded(foldedAt(x));
  const closest = (list, timeOf, isShown) => { let best; for (let at = firstAt(list, timeOf, low); at < list.length && timeOf(list[at]) <= high; at++) if (isShown(list[at]) && (best === undefined || Math.abs(timeOf(list[at]) - time) < Math.abs(timeOf(best) - time))) best = list[at]; return best; };
  const hook = closest(hooksByLane[index], at => hooks[at].time, () => true), record = closest(marksByLane[index], at => times[at], at => hit[at]);
  if (hook !== undefined) return { hook };
  if (record !== undefined) return { record };
  const call = callsByLane[index].find(at => calls[at][1] <= fromFolded(foldedAt(x + 2)) && calls[at][1] + (calls[at][2] ?? 0) >= fromFolded(foldedAt(x - 2)));
  return call === undefined ? { lane: index } : { call };
}
function describe(item) {
  if (item.record !== undefined) { const r = records[item.record]; return `${moment(r.time)}\n${r.event} ${words(r.decision)}\n${what(r).slice(0, 500)}`; }
  if (item.hook !== undefined) { const h = hooks[item.hook]; return `${moment(h.time)}\n${h.hook}: ${h.kind}\n${h.command ?? ''}`; }
  if (item.call !== undefined) { const c = calls[item.call]; return `${moment(c[1])}\n${c[3]} ${c[4] ?? ''}\n${c[2] === null ? 'no result' : duration(c[2])}${c[5] ? ` · ${c[5]}` : ''}`; }
  const lane = lanes[item.lane];
  return `${laneLabel(lane)}\n${moment(lane.started)} · ${duration(lane.ended - lane.started)}\n${stateOf(lane)}`.trim();
}
function openItem(item) {
  if (item.record !== undefined) select(shown.indexOf(item.record), true);
  else if (item.lane !== undefined) showLane(lanes[item.lane]);
  else if (item.hook !== undefined) { const h = hooks[item.hook]; showDetails('Hook that failed silently', [['hook', h.hook], ['what', h.kind, 'warn'], ['time', moment(h.time)], ['agent', laneName(lanes[h.lane])], ['took', h.duration_ms === undefined ? '' : duration(h.duration_ms)], ['command', h.command, 'mono'], ['error', h.stderr, 'mono']]); }
  else { const c = calls[item.call]; showDetails(`Tool call · ${clean(c[3])}`, [['time', moment(c[1])], ['took', c[2] === null ? 'no result' : duration(c[2])], ['problem', c[5], 'warn'], ['agent', laneName(lanes[c[0]])], ['input', c[4], 'mono']]); }
}
const tip = $('tip');
let drag;
canvas.addEventListener('pointermove', event => {
  if (drag) { pan(drag.from - (event.clientX - drag.x) / (width - gutter) * (view[1] - view[0])); drag.moved ||= Math.abs(event.clientX - drag.x) > 3; tip.hidden = true; return; }
  const item = itemAt(event);
  tip.hidden = !item;
  if (!item) return;
  fill(tip, describe(item));
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
});
canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
canvas.addEventListener('pointerdown', event => { drag = { x: event.clientX, from: view[0], moved: false }; });
window.addEventListener('pointercancel', () => { drag = undefined; });
window.addEventListener('pointerup', event => {
  const was = drag; drag = undefined;
  if (!was || was.moved || event.target !== canvas) return;
  const item = itemAt(event);
  if (item) openItem(item);
});
canvas.addEventListener('wheel', event => {
  const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!event.ctrlKey && !event.altKey && !event.shiftKey && !isSideways) return;
  event.preventDefault();
  if (isSideways && !event.shiftKey) pan(view[0] + event.deltaX / (width - gutter) * (view[1] - view[0]));
  else zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : .8, foldedAt(event.clientX - canvas.getBoundingClientRect().left));
}, { passive: false });
timeline.addEventListener('scroll', draw);
