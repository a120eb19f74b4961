/** The conversation on the screen. */
import { toSafeFragment } from './safe-html.js';

/** @typedef {'visitor' | 'agent'} Speaker */

/**
 * @param {{ log: HTMLElement, list: HTMLElement, welcome: HTMLElement, agentName: string }} parts
 */
export function createLogView({ log, list, welcome, agentName }) {
  /** @type {HTMLElement[]} */
  let passing = [];

  /** @param {HTMLElement} item */
  const append = (item) => {
    welcome.hidden = true;
    list.append(item);
    return item;
  };

  const removePassing = () => {
    for (const item of passing) item.remove();
    passing = [];
    welcome.hidden = list.childElementCount > 0;
  };

  return {
    /** @param {readonly import('./thread-store.js').Turn[]} turns */
    showAll(turns) {
      log.ariaBusy = 'true'; // history is not read out as news
      passing = [];
      list.replaceChildren();
      welcome.hidden = turns.length > 0;
      for (const turn of turns) this.addTurn(turn);
      scroll(log, log.scrollHeight, 'instant');
      log.ariaBusy = 'false';
    },

    /** @param {import('./thread-store.js').Turn} turn */
    addTurn(turn) {
      removePassing();
      if (turn.fresh === true) append(createNotice('The agent no longer knows what was said before. A new conversation begins here.'));
      append(createMessage('visitor', 'You', toSafeFragment(turn.human_html)));
      const reply = append(createMessage('agent', agentName, toSafeFragment(turn.agent_html), turn.created_at));
      scroll(log, Math.min(log.scrollHeight, reply.offsetTop - 16)); // the beginning of a long reply
    },

    /** @param {string} text what was just sent, and that its answer is being written */
    showSending(text) {
      removePassing();
      const words = document.createDocumentFragment();
      words.append(text);
      passing = [append(createMessage('visitor', 'You', words)), append(createTyping())];
      scroll(log, log.scrollHeight);
    },

    /** The message goes back to where it was written. */
    showNotSent: removePassing,
  };
}

/**
 * @param {HTMLElement} log
 * @param {number} top
 * @param {ScrollBehavior} [behavior] default: what the style says
 */
function scroll(log, top, behavior = 'auto') {
  log.scrollTo({ top, behavior });
}

/**
 * @param {Speaker} speaker
 * @param {string} name for those who do not see the sides
 * @param {DocumentFragment} content
 * @param {string} [createdAt]
 */
function createMessage(speaker, name, content, createdAt) {
  const item = createElement('li', `message ${speaker}`);
  const words = createElement('div', 'words');
  words.dir = 'auto';
  words.append(content);
  item.append(createElement('span', 'unseen', `${name}: `), words);
  if (createdAt !== undefined) item.append(createTime(createdAt));
  return item;
}

/** Seen only: the status line says it in words. */
function createTyping() {
  const item = createElement('li', 'message agent typing');
  item.ariaHidden = 'true';
  const words = createElement('div', 'words');
  words.append(...[1, 2, 3].map(() => createElement('span', '')));
  item.append(words);
  return item;
}

/** @param {string} text */
function createNotice(text) {
  return createElement('li', 'notice', text);
}

/** @param {string} createdAt ISO 8601 */
function createTime(createdAt) {
  const time = document.createElement('time');
  const date = new Date(createdAt);
  if (Number.isNaN(date.getTime())) return time;
  const today = date.toDateString() === new Date().toDateString();
  time.dateTime = createdAt;
  time.textContent = date.toLocaleString(undefined, {
    ...(today ? {} : { day: 'numeric', month: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
  });
  return time;
}

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} [text]
 */
function createElement(tag, className, text) {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}
