/**
 * The visitor page: composing, sending and receiving messages. It uses only the public API (rules/agents#visitor-chat).
 */
import { ChatFailure, createMessageName, readUpdates, sendMessage } from './chat-api.js';
import { createLogView } from './log-view.js';
import { language, translate } from './strings.js';
import { createThreadStore } from './thread-store.js';

const agent = document.body.dataset['agent'] ?? '';
const maxLength = Number(document.body.dataset['maxLength']);
const agentName = get('h1', HTMLElement).textContent ?? '';
const startOver = get('#start-over', HTMLButtonElement);
const state = get('#state', HTMLElement);
const composer = get('#composer', HTMLFormElement);
const message = get('#message', HTMLTextAreaElement);
const send = get('#send', HTMLButtonElement);
const stop = get('#stop', HTMLButtonElement);
const length = get('#length', HTMLElement);
const problem = get('#problem', HTMLElement);
const problemText = get('#problem-text', HTMLElement);
const retry = get('#retry', HTMLButtonElement);
const confirmation = get('#confirm', HTMLDialogElement);

const store = createThreadStore(agent);
const view = createLogView({
  log: get('#log', HTMLElement),
  list: get('#messages', HTMLElement),
  welcome: get('#welcome', HTMLElement),
  agentName,
});

/** The request in progress; at most one. @type {AbortController | undefined} */
let sending;
/** Text of the message that is being sent. Text typed during the request belongs to the next message. */
let sentText = '';
/**
 * Idempotency key of the last message without a response. The message may have arrived, and must not count twice when
 * it is sent again.
 */
let sentName = '';
/** HTML of the displayed partial reply; `""` when nothing was received yet. */
let written = '';
/**
 * True when the visitor has stopped the reply. The rest is still received and stored, and the next message waits for
 * it.
 */
let isStopped = false;
let isNextWaiting = false;
/** When the visitor last navigated away, reloaded or closed the page. */
let unloadedAt = -Infinity;
const unloadMs = 2_000;
/** Time until which the server rejects requests (Retry-After). */
let waitUntil = 0;
/** @type {ReturnType<typeof setInterval> | undefined} */
let countdown;

/** Whether an operator has taken over the conversation. */
let isPerson = false;
/**
 * Seconds that a request waits for operator messages while the visitor is likely to expect one. Otherwise the page
 * polls occasionally, because an operator may write at any time.
 */
const waitSeconds = 8;
const attentionMs = 600_000;
/**
 * Delays before the next poll: `soonMs` after a new message or a full wait, `notWaitedMs` after an immediate response,
 * `laterMs` otherwise.
 */
const soonMs = 1_000;
const notWaitedMs = 5_000;
const laterMs = 20_000;
let lastActiveAt = Date.now();
let isAsking = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let nextUpdate;

restore();
void update();
composer.addEventListener('submit', (event) => {
  event.preventDefault();
  void submit();
});
stop.addEventListener('click', stopWriting);
message.addEventListener('keydown', (event) => {
  // During character composition, e.g. of Chinese or Japanese, Enter ends the composition and does not send.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!event.repeat) composer.requestSubmit();
});
addEventListener('keydown', (event) => {
  // In a dialog, Escape closes the dialog; during character composition, Escape ends the composition.
  if (event.key !== 'Escape' || event.isComposing || confirmation.open) return;
  if (stop.hidden) closeFrame();
  else stopWriting();
});
message.addEventListener('input', () => {
  keepDraft();
  showWhetherSendable();
});
retry.addEventListener('click', () => void submit());
startOver.addEventListener('click', () => confirmation.showModal());
get('#keep', HTMLButtonElement).addEventListener('click', () => confirmation.close());
get('#discard', HTMLButtonElement).addEventListener('click', discard);
confirmation.addEventListener('close', () => message.focus());
addEventListener('online', () => {
  if (sending === undefined && !problem.hidden) state.textContent = translate('online');
});
store.onThreadChange(() => {
  if (sending === undefined) showThread();
});
// On unload the browser aborts the pending request. This time distinguishes such an abort from a failure.
addEventListener('beforeunload', () => (unloadedAt = Date.now()));
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void update();
});
// On phones whose keyboard overlaps the page, limits the page to the area above the keyboard.
visualViewport?.addEventListener('resize', fitAboveKeyboard);

/** Restores the state of the page after a reload. */
function restore() {
  showThread();
  const draft = store.readDraft();
  message.value = draft.text;
  sentName = draft.name;
  if (draft.sending) {
    keepDraft();
    showProblem(new ChatFailure(translate('closedEarly')));
  }
  showWhetherSendable();
  if (matchMedia('(pointer: fine)').matches) message.focus();
}

function showThread() {
  const { turns } = store.readThread();
  view.showAll(turns);
  startOver.hidden = turns.length === 0;
}

async function submit() {
  const text = message.value;
  message.focus();
  isNextWaiting = isStopped && text.trim() !== '';
  showWhetherSendable();
  if (!isSendable()) return;
  const own = new AbortController();
  sending = own;
  sentText = text;
  written = '';
  if (sentName === '') sentName = createMessageName();
  message.value = '';
  hideProblem();
  keepDraft();
  showWhetherSendable();
  view.showSending(text);
  state.textContent = translate('writing', { name: agentName });
  try {
    const { visitorId } = store.readThread();
    const { visitor_id, ...turn } = await sendMessage(
      { agent, body: text, visitorId, name: sentName },
      own.signal,
      showWriting,
    );
    if (own.signal.aborted) return;
    sending = undefined;
    const stopped = isStopped ? { stopped_html: written } : {};
    accept(visitor_id, {
      ...turn,
      ...stopped,
      ...(visitorId !== null && visitor_id !== visitorId ? { fresh: true } : {}),
    });
  } catch (error) {
    if (own.signal.aborted) return;
    // While the page is being closed, the draft must not change. If the page remains open, e.g. after a download link,
    // the failure is shown.
    if (Date.now() - unloadedAt < unloadMs) await new Promise((resolve) => void setTimeout(resolve, unloadMs));
    sending = undefined;
    refuse(error instanceof ChatFailure ? error : new ChatFailure(translate('pageFault')));
  }
}

/** @param {string} html the partial reply */
function showWriting(html) {
  if (isStopped) return;
  written = html;
  view.showWriting(html);
  showWhetherSendable();
}

/** On another site, requests the embedding script (embed.js) to close the frame. The message has no other content. */
function closeFrame() {
  if (parent !== window) parent.postMessage('coherence-chat:close', '*');
}

function stopWriting() {
  if (stop.hidden) return;
  isStopped = true;
  view.stopWriting();
  state.textContent = translate('stopped');
  showWhetherSendable();
  message.focus();
}

/**
 * @param {string} visitorId
 * @param {import('./thread-store.js').Turn} turn
 */
function accept(visitorId, turn) {
  sentText = '';
  sentName = '';
  store.addTurn(visitorId, turn);
  view.addTurn(turn);
  isPerson = turn.waits_for === 'person';
  state.textContent = isPerson ? translate('personAnswers') : '';
  lastActiveAt = Date.now();
  void update();
  startOver.hidden = false;
  isStopped = false;
  keepDraft();
  showWhetherSendable();
  if (isNextWaiting) void submit();
}

/** Reads new operator messages during a takeover. A hidden page sends no requests. */
async function update() {
  clearTimeout(nextUpdate);
  const { visitorId, seen: after } = store.readThread();
  if (visitorId === null || document.hidden || isAsking) return;
  isAsking = true;
  const isWaiting = isPerson || Date.now() - lastActiveAt < attentionMs;
  const requestedAt = Date.now();
  const found = await readUpdates(agent, { visitorId, after, isPerson }, isWaiting ? waitSeconds : 0);
  isAsking = false;
  if (found !== undefined && store.readThread().visitorId === visitorId) showUpdate({ visitorId, after }, found);
  const wasWaitedFor = found !== undefined && (found.words.length > 0 || Date.now() - requestedAt > notWaitedMs);
  nextUpdate = setTimeout(
    () => void update(),
    !isWaiting || found === undefined ? laterMs : wasWaitedFor ? soonMs : notWaitedMs,
  );
}

/**
 * @param {{ visitorId: string, after: number }} request
 * @param {{ words: import('./thread-store.js').Words[], next: number, isPerson: boolean }} found
 */
function showUpdate(request, found) {
  if (found.isPerson !== isPerson) {
    if (found.isPerson) view.showTakeover();
    if (sending === undefined) state.textContent = found.isPerson ? translate('personAnswers') : '';
  }
  isPerson = found.isPerson;
  if (store.addWords(request, found)) for (const words of found.words) view.addWords(words);
}

/**
 * Puts the text of the failed message back into the input field, before text typed since then. @param {ChatFailure}
 * failure
 */
function refuse(failure) {
  message.value = [sentText, message.value].filter((text) => text !== '').join('\n');
  sentText = '';
  isStopped = false;
  isNextWaiting = false;
  view.showNotSent();
  state.textContent = '';
  keepDraft();
  showProblem(failure);
  showWhetherSendable();
}

function discard() {
  sending?.abort();
  sending = undefined;
  isStopped = false;
  isNextWaiting = false;
  message.value = [sentText, message.value].filter((text) => text !== '').join('\n');
  sentText = '';
  sentName = '';
  store.forgetThread();
  isPerson = false;
  hideProblem();
  keepDraft();
  showThread();
  showWhetherSendable();
  confirmation.close();
  state.textContent = translate('begunAnew');
}

/** Keeps a message that is being sent in the draft until its reply arrives, so a reload loses nothing. */
function keepDraft() {
  const text = [sentText, message.value].filter((part) => part !== '').join('\n');
  store.writeDraft({ text, sending: sending !== undefined, name: sentName });
}

/** @param {ChatFailure} failure */
function showProblem(failure) {
  problemText.textContent = failure.message;
  problem.hidden = false;
  retry.hidden = !failure.retry;
  waitUntil = Date.now() + failure.waitSeconds * 1000;
  tick();
  if (failure.waitSeconds > 0) countdown = setInterval(tick, 250);
}

function hideProblem() {
  problem.hidden = true;
  problemText.textContent = '';
  waitUntil = 0;
  clearInterval(countdown);
}

/** Shows the countdown on the button; screen readers announce only its end. */
function tick() {
  const seconds = Math.ceil((waitUntil - Date.now()) / 1000);
  if (seconds > 0) {
    retry.textContent = translate('tryAgainIn', { seconds });
    retry.ariaDisabled = 'true';
    return;
  }
  if (waitUntil > 0 && retry.ariaDisabled === 'true') state.textContent = translate('tryAgainNow');
  retry.textContent = translate('tryAgain');
  retry.ariaDisabled = 'false';
  waitUntil = 0;
  clearInterval(countdown);
  showWhetherSendable();
}

function isSendable() {
  return (
    sending === undefined && Date.now() >= waitUntil && message.value.trim() !== '' && countCharacters() <= maxLength
  );
}

/** Counts characters like the API: an emoji counts as one. */
function countCharacters() {
  const { value } = message;
  return value.length <= maxLength ? value.length : value.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '_').length;
}

function showWhetherSendable() {
  const stood = document.activeElement;
  stop.hidden = sending === undefined || written === '' || isStopped;
  send.hidden = !stop.hidden;
  if (stood === stop && stop.hidden) send.focus(); // otherwise keyboard users would lose the focus
  send.ariaDisabled = String(!isSendable());
  const count = countCharacters();
  const over = count > maxLength;
  const size =
    count > maxLength * 0.9
      ? translate('characters', { count: count.toLocaleString(language), most: maxLength.toLocaleString(language) })
      : '';
  length.textContent = isNextWaiting ? translate('waits') : size;
  length.classList.toggle('over', over);
  message.ariaInvalid = String(over);
}

function fitAboveKeyboard() {
  const { height = innerHeight, scale = 1 } = visualViewport ?? {};
  if (scale === 1) document.documentElement.style.setProperty('--visible-height', `${height}px`);
}

/**
 * @template {Element} T
 * @param {string} selector
 * @param {new () => T} type
 * @returns {T}
 */
function get(selector, type) {
  const element = document.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`${selector} is not on the page`);
  return element;
}
