/** The visitor page: what is written, what is sent, what came of it. It knows the public API only (rules/agents#visitor-chat). */
import { ChatFailure, createMessageName, sendMessage } from './chat-api.js';
import { createLogView } from './log-view.js';
import { createThreadStore } from './thread-store.js';

const agent = document.body.dataset['agent'] ?? '';
const maxLength = Number(document.body.dataset['maxLength']);
const agentName = get('h1', HTMLElement).textContent ?? '';
const startOver = get('#start-over', HTMLButtonElement);
const state = get('#state', HTMLElement);
const composer = get('#composer', HTMLFormElement);
const message = get('#message', HTMLTextAreaElement);
const send = get('#send', HTMLButtonElement);
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

/** The request on its way; at most one. @type {AbortController | undefined} */
let sending;
/** Text on its way; what is typed meanwhile is the next message. */
let sentText = '';
/** Name of the message that was sent last and not answered: it may have arrived, and must not count twice when it is sent again. */
let sentName = '';
/** Time before which the server does not want to be asked again. */
let waitUntil = 0;
/** @type {ReturnType<typeof setInterval> | undefined} */
let countdown;

restore();
composer.addEventListener('submit', (event) => {
  event.preventDefault();
  void submit();
});
message.addEventListener('keydown', (event) => {
  // Enter also ends the composition of Chinese, Japanese and other characters.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!event.repeat) composer.requestSubmit();
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
  if (sending === undefined && !problem.hidden) state.textContent = 'You are online again.';
});
store.onThreadChange(() => {
  if (sending === undefined) showThread();
});
// Phones that lay the keyboard over the page: the page ends where the keyboard begins.
visualViewport?.addEventListener('resize', fitAboveKeyboard);

/** After a reload everything is where it was. */
function restore() {
  showThread();
  const draft = store.readDraft();
  message.value = draft.text;
  sentName = draft.name;
  if (draft.sending) {
    keepDraft();
    showProblem(new ChatFailure('The page was closed before the reply came. Your message is still here.'));
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
  if (!isSendable()) return;
  const own = new AbortController();
  sending = own;
  sentText = text;
  if (sentName === '') sentName = createMessageName();
  message.value = '';
  hideProblem();
  keepDraft();
  showWhetherSendable();
  view.showSending(text);
  state.textContent = `${agentName} is writing…`;
  try {
    const { visitorId } = store.readThread();
    const { visitor_id, ...turn } = await sendMessage(agent, text, visitorId, sentName, own.signal);
    if (own.signal.aborted) return;
    sending = undefined;
    accept(visitor_id, visitorId !== null && visitor_id !== visitorId ? { ...turn, fresh: true } : turn);
  } catch (error) {
    if (own.signal.aborted) return;
    sending = undefined;
    refuse(error instanceof ChatFailure ? error : new ChatFailure('Something went wrong on this page. Your message is still here.'));
  }
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
  state.textContent = '';
  startOver.hidden = false;
  keepDraft();
  showWhetherSendable();
}

/** The text goes back into the field, before what was typed since. @param {ChatFailure} failure */
function refuse(failure) {
  message.value = [sentText, message.value].filter((text) => text !== '').join('\n');
  sentText = '';
  view.showNotSent();
  state.textContent = '';
  keepDraft();
  showProblem(failure);
  showWhetherSendable();
}

function discard() {
  sending?.abort();
  sending = undefined;
  message.value = [sentText, message.value].filter((text) => text !== '').join('\n');
  sentText = '';
  sentName = '';
  store.forgetThread();
  hideProblem();
  keepDraft();
  showThread();
  showWhetherSendable();
  confirmation.close();
  state.textContent = 'A new conversation begins with your next message.';
}

/** What is on its way is part of the draft until its reply is here: a reload loses nothing. */
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

/** The button counts for the eye; for the ear, only its end is told. */
function tick() {
  const seconds = Math.ceil((waitUntil - Date.now()) / 1000);
  if (seconds > 0) {
    retry.textContent = `Try again in ${seconds} s`;
    retry.ariaDisabled = 'true';
    return;
  }
  if (waitUntil > 0 && retry.ariaDisabled === 'true') state.textContent = 'You can try again now.';
  retry.textContent = 'Try again';
  retry.ariaDisabled = 'false';
  waitUntil = 0;
  clearInterval(countdown);
  showWhetherSendable();
}

function isSendable() {
  return sending === undefined && Date.now() >= waitUntil && message.value.trim() !== '' && countCharacters() <= maxLength;
}

/** As the API counts them: an emoji is one. */
function countCharacters() {
  const { value } = message;
  return value.length <= maxLength ? value.length : value.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '_').length;
}

function showWhetherSendable() {
  send.ariaDisabled = String(!isSendable());
  const count = countCharacters();
  const over = count > maxLength;
  length.textContent = count > maxLength * 0.9 ? `${count.toLocaleString()} of ${maxLength.toLocaleString()} characters` : '';
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
