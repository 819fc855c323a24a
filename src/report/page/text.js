'use strict';
// ---- text: everything in the data may be untrusted, so it only ever becomes a text node

const data = JSON.parse(document.getElementById('data').textContent);
document.getElementById('data').remove();
const $ = id => document.getElementById(id);
const { sessions, lanes, records, calls, hooks } = data;

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g;
const clean = text => String(text ?? '').replace(HIDDEN, '\ufffd');
function el(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === 'class') node.className = value;
    else if (name === 'on') for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) if (child !== undefined && child !== null) node.append(child instanceof Node ? child : clean(child));
  return node;
}
const fill = (node, ...children) => node.replaceChildren(...children.flat(Infinity).map(child => child instanceof Node ? child : clean(child)));

const two = n => String(n).padStart(2, '0');
const day = ms => { const d = new Date(ms); return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`; };
const clock = (ms, fine) => { const d = new Date(ms); return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}${fine ? '.' + String(d.getMilliseconds()).padStart(3, '0') : ''}`; };
// Years are shown where they differ.
const hasYears = new Set(lanes.flatMap(lane => [lane.started, lane.ended]).filter(ms => ms > 0).map(ms => new Date(ms).getFullYear())).size > 1;
document.documentElement.classList.toggle('years', hasYears);
const date = ms => hasYears ? day(ms) : day(ms).slice(5);
const soon = ms => ms === undefined || ms === null ? '–' : `${date(ms)} ${clock(ms)}`;
const moment = ms => ms === undefined || ms === null ? '–' : `${day(ms)} ${clock(ms)}`;
function duration(ms) {
  if (typeof ms !== 'number' || !Number.isFinite(ms)) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}
const grouped = new Intl.NumberFormat('en'), number = n => grouped.format(n);
const brief = n => n < 1e4 ? number(n) : n < 1e6 ? `${(n / 1e3).toFixed(n < 1e5 ? 1 : 0)}k` : `${(n / 1e6).toFixed(n < 1e8 ? 1 : 0)}M`;
const money = n => n === undefined || n === null ? '–' : `$${n.toFixed(n < 1 ? 4 : 2)}`;
const json = value => typeof value === 'string' ? value : JSON.stringify(value, null, 1);

// ---- what things are called, and their colours

const COLOURS = { blocked: 'bad', denied: 'bad', unfinished: 'bad', FAIL: 'bad', FAILED: 'bad', allowed_despite_failure: 'bad', interrupted: 'warn', warned: 'warn', allowed_failed: 'warn', asked: 'ask' };
const colour = decision => Object.hasOwn(COLOURS, decision) ? COLOURS[decision] : 'good';
const words = decision => clean(decision).replaceAll('_', ' ');
const pill = (decision, text) => el('span', { class: `pill ${colour(decision)}` }, text ?? words(decision));
const INK = { block: 'bad', warn: 'warn', ask: 'ask', pass: 'good' };
const short = id => clean(id).slice(0, 8);
// A session is called by what was asked first; one of another client than Claude Code has that client's name, too.
const cut = (text, most) => { const all = [...clean(text)]; return all.length > most ? `${all.slice(0, most - 1).join('')}…` : all.join(''); };
const sessionName = (session, most = 60) => (session.name ? cut(session.name, most) : short(session.id)) + (session.client ? ` (${session.client})` : '');
const laneName = lane => lane.id === undefined ? (lane.session === undefined ? 'no session' : 'main thread') : lane.name;
const laneLabel = lane => lane.id === undefined ? (lane.session === undefined ? 'no session' : sessions[lane.session].name ? sessionName(sessions[lane.session], 100) : `Main thread · ${sessionName(sessions[lane.session])}`) : `${lane.name}${lane.description ? ' · ' + lane.description : ''}`;
const STATES = { stopped: ['stopped', 'good'], running: ['running', 'warn'], never_stopped: ['never stopped', 'bad'] };
const stateOf = lane => STATES[lane.state]?.[0] ?? '';

// A trail that somebody changed may hold anything in these.
const objects = list => Array.isArray(list) ? list.filter(item => item && typeof item === 'object') : [];
const findingsOf = r => objects(r.findings);
const commandsOf = r => objects(r.commands);
// A hook decides by its answer, whatever its exit code is.
const hasFailed = command => command.exit_code !== 0 || ['warn', 'block', 'ask'].includes(command.verdict);
// What was allowed, although a command failed or something was found. Older records say no verdict.
const isWarning = item => item.verdict ? item.verdict === 'warn' : item.run !== undefined && hasFailed(item);
const hasWarning = r => colour(r.decision) === 'good' && (objects(r.commands).some(isWarning) || objects(r.findings).some(isWarning));
const took = command => typeof command.duration_ms === 'number' ? command.duration_ms : 0;

const inkOf = command => hasFailed(command) ? INK[command.verdict] ?? 'bad' : 'good';
// `1 line`, `2 lines`.
const counted = (n, noun) => `${number(n)} ${noun}${n === 1 ? '' : 's'}`;
// The words of a guard say it all; those of a gate follow their code.
const GUARDS = new Map([['GUARD_DENIED', 'denied by a guard'], ['GUARD_ASKS', 'asked about by a guard'], ['PERMISSION_ALLOWED', 'permission given by a rule'], ['PERMISSION_DENIED', 'permission denied by a rule']]);
const kindOf = code => GUARDS.get(code) ?? code;
// What the user was asked speaks to the user.
const fixOf = (r, f) => (r.decision === 'asked' ? f.user_fix : undefined) ?? f.fix;
const placeOf = rule => rule?.file ? `${rule.file}${rule.line === undefined ? '' : `:${rule.line}`}` : '';
function found(finding) {
  if (!GUARDS.has(finding.code)) return `${nameOf(finding)}: ${finding.what}`;
  const place = placeOf(finding.rule);
  return place && !clean(finding.what).includes(place) ? `${finding.what} (${place})` : finding.what;
}
const nameOf = finding => finding.phase ? `${finding.code} ${finding.phase}` : finding.code;
const ended = c => `${hasFailed(c) && c.message ? `${c.message}: ` : ''}${c.run} ${c.status}`;

// What a record is about, in one line; what failed says more than what did not.
function what(r) {
  if (r.doubt) return `✗ ${r.doubt}`;
  const parts = r.reason ? [r.reason] : [];
  for (const f of findingsOf(r)) parts.push(found(f));
  const ran = commandsOf(r), line = c => `${ended(c)} (${duration(took(c))})`;
  for (const c of ran) if (hasFailed(c)) parts.push(line(c));
  for (const c of ran) if (!hasFailed(c)) parts.push(line(c));
  for (const a of objects(r.more?.applied)) parts.push(`${a.what} by ${a.rule?.key ?? ''} ${a.rule?.pattern ?? ''}`);
  if (r.evidence) parts.push(`${r.evidence.command ?? ''} → ${r.evidence.exit_code ?? ''}`);
  if (r.step) parts.push(r.phase ? `${r.step} ${r.phase}` : r.step);
  return parts.join(' · ');
}
