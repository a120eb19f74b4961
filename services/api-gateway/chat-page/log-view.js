/** The conversation on the screen. */
import { patch } from './patch.js';
import { toSafeFragment } from './safe-html.js';
import { language, say } from './strings.js';

/** @typedef {'visitor' | 'agent'} Speaker */

/**
 * @param {{ log: HTMLElement, list: HTMLElement, welcome: HTMLElement, agentName: string }} parts
 */
export function createLogView({ log, list, welcome, agentName }) {
  /** What is shown of a message on its way, and of its reply. @type {HTMLElement[]} */
  let passing = [];
  /** The reply while it is written. @type {HTMLElement | undefined} */
  let writing;
  /** What comes is scrolled to; not while the visitor reads further up. */
  let follows = true;
  /** What was said last was said while a person has the conversation: that one has it is written above. */
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
      log.ariaBusy = 'true'; // history is not read out as news
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
      if (turn.fresh === true) append(createNotice(say('forgotten')));
      const own = append(createMessage('visitor', say('you'), toSafeFragment(turn.human_html)));
      if (turn.waits_for === 'person') {
        this.showTakeover();
        return scroll(log, topOf(own));
      }
      isTaken = false;
      const reply = append(createMessage('agent', agentName, toSafeFragment(turn.stopped_html ?? turn.agent_html), turn.created_at));
      if (turn.stopped_html !== undefined) reply.append(createRest(reply, turn));
      if (!wasWriting) scroll(log, topOf(reply));
      else if (follows) scroll(log, topOf(reply), 'instant');
    },

    /** A person has the conversation from here on; what is on its way stays below. */
    showTakeover() {
      if (isTaken) return;
      isTaken = true;
      welcome.hidden = true;
      list.insertBefore(createNotice(say('personTookOver')), passing[0] ?? null);
      if (passing.length === 0) scroll(log, log.scrollHeight);
    },

    /** @param {import('./thread-store.js').Words} words of a person in the place of the agent; what is on its way stays below them */
    addWords({ operator_html: html, created_at: createdAt }) {
      this.showTakeover();
      const item = createMessage('agent', say('person'), toSafeFragment(html), createdAt);
      item.classList.add('person');
      const who = createElement('span', 'who', say('person'));
      who.ariaHidden = 'true'; // those who do not see the sides hear it before the words
      item.querySelector('.words')?.before(who);
      list.insertBefore(item, passing[0] ?? null);
      if (passing.length === 0) scroll(log, topOf(item));
    },

    /** @param {string} html the reply so far */
    showWriting(html) {
      if (writing === undefined) {
        passing.pop()?.remove();
        writing = append(createMessage('agent', agentName, document.createDocumentFragment()));
        writing.classList.add('writing');
        writing.ariaHidden = 'true'; // read out when it is whole
        passing.push(writing);
      }
      const words = writing.querySelector('.words');
      const soFar = toSafeFragment(html);
      // What is not read out is not walked through with the keyboard either.
      for (const link of soFar.querySelectorAll('a')) link.tabIndex = -1;
      if (words !== null) patch(words, soFar);
      // A long reply stays with its beginning before the eyes.
      if (follows) scroll(log, topOf(writing), 'instant');
    },

    /** The reply is left as it is, although its rest will come. */
    stopWriting() {
      writing?.classList.remove('writing');
    },

    /** @param {string} text what was just sent, and that its answer is being written */
    showSending(text) {
      removePassing();
      follows = true;
      const words = document.createDocumentFragment();
      words.append(text);
      passing = [append(createMessage('visitor', say('you'), words)), append(createTyping())];
      scroll(log, log.scrollHeight);
    },

    /** The message goes back to where it was written. */
    showNotSent: removePassing,
  };
}

/** The end of the log, but no further than the beginning of a long message. @param {HTMLElement} message */
function topOf(message) {
  return message.offsetTop - 16;
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

/**
 * What was not waited for is there all the same.
 * @param {HTMLElement} reply
 * @param {import('./thread-store.js').Turn} turn
 */
function createRest(reply, turn) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet rest';
  button.textContent = say('showAll');
  button.addEventListener('click', () => {
    reply.querySelector('.words')?.replaceChildren(toSafeFragment(turn.agent_html));
    button.remove();
  });
  return button;
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
