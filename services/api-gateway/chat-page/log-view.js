/** Renders the conversation. */
import { patch } from './patch.js';
import { toSafeFragment } from './safe-html.js';
import { language, translate } from './strings.js';

/** @typedef {'visitor' | 'agent'} Speaker */

/** @param {{ log: HTMLElement, list: HTMLElement, welcome: HTMLElement, agentName: string }} parts */
export function createLogView({ log, list, welcome, agentName }) {
  /** Elements of a message that is being sent, and of its reply. @type {HTMLElement[]} */
  let passing = [];
  /** Element of the partial reply. @type {HTMLElement | undefined} */
  let writing;
  /** Whether to scroll to new content; false while the visitor reads further up. */
  let follows = true;
  /** Whether the latest message belongs to a takeover, so that the takeover notice is already shown above it. */
  let isTaken = false;
  let lastTop = 0;

  for (const event of ['wheel', 'touchmove', 'pointerdown', 'keydown'])
    log.addEventListener(event, () => (follows = false), { passive: true });
  log.addEventListener('scroll', () => {
    if (log.scrollTop > lastTop && log.scrollHeight - log.scrollTop - log.clientHeight < 4) follows = true;
    lastTop = log.scrollTop;
  });

  /** @param {HTMLElement} item */
  const append = (item) => {
    welcome.hidden = true;
    list.append(item);
    return item;
  };

  const removePassing = () => {
    for (const item of passing) item.remove();
    passing = [];
    writing = undefined;
    welcome.hidden = list.childElementCount > 0;
  };

  return {
    /** @param {readonly (import('./thread-store.js').Turn | import('./thread-store.js').Words)[]} turns */
    showAll(turns) {
      log.ariaBusy = 'true'; // screen readers must not announce the history
      passing = [];
      writing = undefined;
      list.replaceChildren();
      isTaken = false;
      welcome.hidden = turns.length > 0;
      for (const turn of turns)
        if ('operator_html' in turn) this.addWords(turn);
        else this.addTurn(turn);
      scroll(log, log.scrollHeight, 'instant');
      log.ariaBusy = 'false';
    },

    /** @param {import('./thread-store.js').Turn} turn */
    addTurn(turn) {
      const wasWriting = writing !== undefined;
      removePassing();
      if (turn.fresh === true) append(createNotice(translate('forgotten')));
      const own = append(createMessage('visitor', translate('you'), toSafeFragment(turn.human_html)));
      if (turn.waits_for === 'person') {
        this.showTakeover();
        return scroll(log, topOf(own));
      }
      isTaken = false;
      const reply = append(
        createMessage('agent', agentName, toSafeFragment(turn.stopped_html ?? turn.agent_html), turn.created_at),
      );
      if (turn.stopped_html !== undefined) reply.append(createRest(reply, turn));
      if (!wasWriting) scroll(log, topOf(reply));
      else if (follows) scroll(log, topOf(reply), 'instant');
    },

    /** Shows that an operator has taken over. The notice is inserted above a pending message. */
    showTakeover() {
      if (isTaken) return;
      isTaken = true;
      welcome.hidden = true;
      list.insertBefore(createNotice(translate('personTookOver')), passing[0] ?? null);
      if (passing.length === 0) scroll(log, log.scrollHeight);
    },

    /**
     * @param {import('./thread-store.js').Words} words message of an operator; it is inserted above a pending message
     */
    addWords({ operator_html: html, created_at: createdAt }) {
      this.showTakeover();
      const item = createMessage('agent', translate('person'), toSafeFragment(html), createdAt);
      item.classList.add('person');
      const speaker = createElement('span', 'who', translate('person'));
      speaker.ariaHidden = 'true'; // screen readers announce the speaker before the message
      item.querySelector('.words')?.before(speaker);
      list.insertBefore(item, passing[0] ?? null);
      if (passing.length === 0) scroll(log, topOf(item));
    },

    /** @param {string} html the partial reply */
    showWriting(html) {
      if (writing === undefined) {
        passing.pop()?.remove();
        writing = append(createMessage('agent', agentName, document.createDocumentFragment()));
        writing.classList.add('writing');
        writing.ariaHidden = 'true'; // screen readers announce only the complete reply
        passing.push(writing);
      }
      const words = writing.querySelector('.words');
      const soFar = toSafeFragment(html);
      // Links in content that is hidden from screen readers must not be focusable.
      for (const link of soFar.querySelectorAll('a')) link.tabIndex = -1;
      if (words !== null) patch(words, soFar);
      // Scrolls at most to the start of a long reply.
      if (follows) scroll(log, topOf(writing), 'instant');
    },

    /** Removes the writing indicator of the stopped reply, although the rest is still received. */
    stopWriting() {
      writing?.classList.remove('writing');
    },

    /** Shows the message that was just sent, and that its reply is pending. @param {string} text */
    showSending(text) {
      removePassing();
      follows = true;
      const words = document.createDocumentFragment();
      words.append(text);
      passing = [append(createMessage('visitor', translate('you'), words)), append(createTyping())];
      scroll(log, log.scrollHeight);
    },

    /** Removes the message that was not sent. Its text returns to the input field. */
    showNotSent: removePassing,
  };
}

/**
 * Returns the scroll position at which the message starts. For a short message the browser stops at the end of the log.
 * @param {HTMLElement} message
 */
function topOf(message) {
  return message.offsetTop - 16;
}

/**
 * @param {HTMLElement} log
 * @param {number} top
 * @param {ScrollBehavior} [behavior] default: as in the style sheet
 */
function scroll(log, top, behavior = 'auto') {
  log.scrollTo({ top, behavior });
}

/**
 * @param {Speaker} speaker
 * @param {string} name for screen readers
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

/**
 * Returns the button that shows the rest of a stopped reply.
 * @param {HTMLElement} reply
 * @param {import('./thread-store.js').Turn} turn
 */
function createRest(reply, turn) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet rest';
  button.textContent = translate('showAll');
  button.addEventListener('click', () => {
    reply.querySelector('.words')?.replaceChildren(toSafeFragment(turn.agent_html));
    button.remove();
  });
  return button;
}

/** Returns the typing indicator. It is visual only: the status line has the text for screen readers. */
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
  time.textContent = date.toLocaleString(navigator.language.startsWith(language) ? navigator.language : language, {
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
