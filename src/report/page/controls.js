// ---- controls

const option = (value, text) => el('option', { value }, text);
function controls() {
  fill($('session'), option('', 'all sessions'), sessions.map((session, index) => option(index, `${soon(session.ended).slice(0, -3)} · ${sessionName(session, 40)}`)));
  fill($('agent'), option('', 'all agents'), [...new Set(lanes.map(lane => clean(laneName(lane))))].sort().map(name => option(name, name)));
  fill($('decisions'), [...new Set(records.map(r => r.decision))].sort().map(name => {
    const button = el('button', { type: 'button', 'aria-pressed': 'false', 'data-decision': clean(name), on: { click: () => toggle(name) } }, words(name));
    button.style.setProperty('--dot', `var(--${colour(name)})`);
    return button;
  }));
  $('search').addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(search, 120); });
  for (const name of ['session', 'agent']) $(name).addEventListener('change', () => { filter[name] = $(name).value; applyFilter(); });
  $('filters').addEventListener('submit', event => event.preventDefault());
  const clicks = { clear, theme, keys: help, 'zoom-in': () => zoom(.5), 'zoom-out': () => zoom(2), 'zoom-all': showAll, idle: showIdle };
  for (const [id, run] of Object.entries(clicks)) $(id).onclick = () => run();
  $('idle').hidden = !folds.length;
}
let typing;
function search() {
  clearTimeout(typing);
  if (filter.text === $('search').value) return;
  filter.text = $('search').value;
  applyFilter();
}
// Esc takes the search back, Enter goes on to what it found.
function leaveSearch(event) {
  event.preventDefault();
  if (event.key === 'Escape') $('search').value = '';
  search();
  if (event.key === 'Escape') $('search').blur(); else box.focus({ preventScroll: true });
}
function toggle(decision) {
  if (!filter.decisions.delete(decision)) filter.decisions.add(decision);
  for (const button of $('decisions').children) button.setAttribute('aria-pressed', String([...filter.decisions].some(name => clean(name) === button.dataset.decision)));
  applyFilter();
}
function clear() {
  clearTimeout(typing);
  filter.text = filter.session = filter.agent = ''; filter.decisions.clear();
  $('search').value = ''; $('session').value = ''; $('agent').value = '';
  for (const button of $('decisions').children) button.setAttribute('aria-pressed', 'false');
  applyFilter();
}
function theme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
  recolour();
}
function recolour() { legend(); draw(); }
const help = () => $('help').showModal();

// ---- keyboard

// The list takes the focus, so that Enter is for the record and for no button.
const step = by => { box.focus({ preventScroll: true }); select(selected + by); };
function jump(by) {
  for (let at = selected + by; at >= 0 && at < shown.length; at += by) if (colour(records[shown[at]].decision) === 'bad') { box.focus({ preventScroll: true }); return select(at); }
}
const KEYS = { '/': ['search', () => $('search').focus()], j: ['next record', () => step(1)], k: ['previous record', () => step(-1)], n: ['next block or denial', () => jump(1)], p: ['previous block or denial', () => jump(-1)], Enter: ['details of the record', () => select(Math.max(0, selected), true)],
  '+': ['zoom in', () => zoom(.5)], '-': ['zoom out', () => zoom(2)], '0': ['whole timeline', showAll], ArrowLeft: ['earlier', () => pan(view[0] - (view[1] - view[0]) / 4)], ArrowRight: ['later', () => pan(view[0] + (view[1] - view[0]) / 4)], i: ['idle time folded, or to scale', showIdle],
  c: ['clear the filter', clear], t: ['light or dark', theme], '?': ['these keys', help], Escape: ['close', hideDetails] };
const SAME = { '=': '+', _: '-' }, IN_LIST = { ArrowDown: 'j', ArrowUp: 'k' };
function keyboard() {
  const sign = key => ({ ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc' })[key] ?? key;
  fill($('help'), el('h2', {}, 'Keys'), el('table', {}, Object.entries(KEYS).map(([key, [name]]) => el('tr', {}, el('td', {}, el('kbd', {}, sign(key))), el('td', {}, name)))),
    el('p', { class: 'note' }, 'In the search: Enter goes to the records, Esc clears it. In the timeline: drag to move, Ctrl or Shift and the wheel to zoom, click for details.'), el('form', { method: 'dialog' }, el('button', {}, 'Close')));
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
    const focus = document.activeElement;
    if (focus === $('search') && (event.key === 'Escape' || event.key === 'Enter') && !event.isComposing) return leaveSearch(event);
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(focus?.tagName ?? '')) { if (event.key === 'Escape') focus.blur(); return; }
    const key = (focus === box && IN_LIST[event.key]) || SAME[event.key] || event.key;
    if (key === 'Enter' && focus?.matches('button, tr, summary')) return;
    if (Object.hasOwn(KEYS, key)) { event.preventDefault(); KEYS[key][1](); }
  });
}
function legend() {
  const inks = inksOf(), ratio = window.devicePixelRatio || 1;
  const entries = [['blocked', 'blocked'], ['denied', 'denied'], ['asked', 'asked'], ['warned', 'warning'], ['allowed', 'allowed'], ['hook', 'failed hook'], ['command', 'command'], ['tool', 'tool call']];
  fill($('legend'), entries.map(([kind, name]) => {
    const sign = el('canvas', { width: 18 * ratio, height: 18 * ratio, 'aria-hidden': 'true' }), to = sign.getContext('2d');
    sign.style.width = sign.style.height = '18px'; to.scale(ratio, ratio);
    if (MARKS[kind]) mark(to, kind, 9, 9, inks); else { to.fillStyle = inks[kind]; to.fillRect(1, kind === 'tool' ? 5 : 3, 16, kind === 'tool' ? 8 : 12); }
    return el('span', {}, sign, name);
  }));
}

// ---- print: rows that are not in view do not exist, so the printed page has a list of its own; the timeline is drawn for paper

const MAX_PRINTED = 1000, PAPER = 720;
window.addEventListener('beforeprint', () => {
  const chosen = ['session', 'agent'].map(id => $(id)).filter(list => list.value !== '').map(list => `${list.getAttribute('aria-label').toLowerCase()} ${list.selectedOptions[0].textContent}`);
  const parts = [filter.text.trim() && `search “${clean(filter.text.trim())}”`, ...chosen, filter.decisions.size && `decisions ${[...filter.decisions].map(clean).join(', ')}`].filter(Boolean);
  $('filtered').textContent = parts.length ? `Only what this filter shows: ${parts.join('; ')}` : '';
  const heads = [...document.querySelectorAll('.head.row span')].map(cell => el('th', {}, cell.textContent));
  fill($('printed'), shown.length ? el('table', {}, el('thead', {}, el('tr', {}, heads)), el('tbody', {}, shown.slice(0, MAX_PRINTED).map(printedRow))) : none($('rows').textContent),
    shown.length > MAX_PRINTED ? el('p', {}, `and ${number(shown.length - MAX_PRINTED)} more: filter them before printing`) : []);
  timeline.style.width = `${PAPER}px`;
  timeline.style.height = `${Math.min(shownLanes.length, 36) * LANE + AXIS + 6}px`;
  document.documentElement.dataset.was = document.documentElement.dataset.theme ?? '';
  document.documentElement.dataset.theme = 'light';
  resize(2); paint(); legend();
});
window.addEventListener('afterprint', () => {
  const root = document.documentElement;
  if (root.dataset.was) root.dataset.theme = root.dataset.was; else delete root.dataset.theme;
  $('printed').replaceChildren();
  $('filtered').textContent = '';
  timeline.style.width = '';
  sizeTimeline(); legend();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);

controls(); keyboard(); legend();
fill($('about'), data.all_projects ? data.range : [el('b', {}, data.project.split('/').at(-1) || data.project), ` ${data.project} · ${data.range}`]);
$('records-section').hidden = !records.length;
if (data.chain.records || data.chain.problem) fill($('chain-badge'), el('span', { class: `pill ${data.chain.problem ? 'bad' : 'good'}` }, data.chain.problem ? '✗ audit trail broken' : '✓ audit trail in order'));
fill($('footer'), `Made by conclaude ${data.version} at ${moment(data.generated)}, with list prices of ${data.prices_of} where the config has no others. Everything is in this file; nothing is loaded from anywhere.`);
document.title = `${data.all_projects ? 'all projects' : clean(data.project.split('/').at(-1))} · conclaude report`;
applyFilter();
new ResizeObserver(() => { if (isNarrow === timeline.clientWidth < 600) resize(); else sizeTimeline(); arrangeCards(); }).observe(timeline);
prepareTexts();
document.documentElement.dataset.ready = 'true';
