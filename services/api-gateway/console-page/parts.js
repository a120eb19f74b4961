/** Shared parts of pages: lists, filters, commands to copy, dialogs. */
import { CallFailure } from './calls.js';
import { go, Link, withQuery } from './address.js';
import { fromField, toField } from './times.js';
import { createShared, html, useId, useLayoutEffect, useRef, useState } from './ui.js';

/** @typedef {import('./ui.js').Children} Children */
/**
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {(item: T) => Children} show
 * @property {boolean} [wide] uses the remaining width
 */

/**
 * Renders a table; on a phone each row is a card. The explicit roles are needed because screen readers do not recognise
 * a table with another CSS layout.
 * @template T
 * @param {{ title: string, columns: readonly Column<T>[], items: readonly T[], id: (item: T) => string | number, empty:
 * string }} properties
 */
export function List({ title, columns, items, id, empty }) {
  if (items.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<div class="list">
    <table role="table" aria-label=${title}>
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map((column) => html`<th role="columnheader" scope="col" class=${column.wide === true ? 'wide' : ''}>${column.title}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${items.map(
          (item) =>
            html`<tr role="row" key=${id(item)}>
              ${columns.map((column) => html`<td role="cell" class=${column.wide === true ? 'wide' : ''} data-title=${column.title}><div>${column.show(item)}</div></td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/**
 * Renders links to the first and the next page. Previous pages are in the browser's history.
 * @param {{ query: URLSearchParams, name: 'cursor' | 'offset', next: string | null }} properties
 */
export function Pages({ query, name, next }) {
  const isFirst = !query.has(name);
  if (isFirst && next === null) return null;
  return html`<nav class="pages" aria-label="Pages of the list">
    ${isFirst ? null : html`<${Link} href=${withQuery(query, {})}>First page<//>`}
    ${next === null ? null : html`<${Link} href=${withQuery(query, { [name]: next })}>Next page<//>`}
  </nav>`;
}

/**
 * @typedef {object} Field
 * @property {string} name of the filter, in the URL and in the API
 * @property {string} label
 * @property {'text' | 'time' | 'number'} [type]
 * @property {readonly (readonly [string, string])[]} [options] value and label; makes the field a select
 * @property {string} [hint]
 */

/** On phones rows are cards, and filters are collapsed. The width is the same as in console.css. */
const phone = matchMedia('(max-width: 48rem)');
const isPhone = createShared(phone.matches);
phone.addEventListener('change', () => isPhone.write(phone.matches));

/** @param {{ fields: readonly Field[], query: URLSearchParams }} properties */
export function Filters({ fields, query }) {
  const id = useId();
  /** Id of the field that had the focus before a new URL rendered the form again. */
  const focused = useRef('');
  const keepFocus = () => (focused.current = document.activeElement?.id ?? '');
  useLayoutEffect(() => {
    if (focused.current !== '')
      (document.getElementById(focused.current) ?? document.getElementById(`${id}-submit`))?.focus({
        preventScroll: true,
      });
    focused.current = '';
  }, [query.toString()]);
  /** @param {SubmitEvent} event */
  const apply = (event) => {
    event.preventDefault();
    keepFocus();
    const form = readForm(/** @type {HTMLFormElement} */ (event.currentTarget));
    const values = fields.map(({ name, type }) => {
      /** @param {string} text */
      const read = (text) => (type === 'time' ? fromField(text) : text.trim());
      const [given, value] = [query.get(name) ?? '', read(form.text(name))];
      // Sends unchanged values as in the URL, because a field cannot show line ends or milliseconds.
      return [name, value === read(toFieldValue(type, given)) ? given : value];
    });
    go(withQuery(query, Object.fromEntries(values)));
  };
  const given = fields.filter(({ name }) => query.has(name)).length;
  /** @type {Record<string, undefined>} */
  const none = Object.fromEntries(fields.map(({ name }) => [name, undefined]));
  const showAll = () => {
    keepFocus();
    go(withQuery(query, none));
  };
  const form = html`<form class="filters" role="search" aria-label="Filters" key=${query.toString()} onSubmit=${apply}>
    ${fields.map(
      (field) =>
        html`<p class="field">
          <label for=${`${id}-${field.name}`}>${field.label}</label>
          <${Input} field=${field} id=${`${id}-${field.name}`} value=${query.get(field.name) ?? ''} />
        </p>`,
    )}
    <p class="buttons">
      <button type="submit" id=${`${id}-submit`}>Filter</button>
      ${given > 0 ? html`<button type="button" class="quiet" id=${`${id}-none`} onClick=${showAll}>Show all</button>` : null}
    </p>
  </form>`;
  return html`<details class="narrowing" open=${!isPhone.use()}>
    <summary>Filters${given === 0 ? '' : ` (${given})`}</summary>
    ${form}
  </details>`;
}

/**
 * Shows a named value, such as a setting: inline when it is short, otherwise collapsed. @param {{ name: string, value:
 * unknown }} properties
 */
export function Value({ name, value }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= 80) return html`<b>${name}</b> ${text}`;
  return html`<details class="long">
    <summary><b>${name}</b></summary>
    <code tabindex="0">${text}</code>
  </details>`;
}

/** Returns the values of a form. @param {HTMLFormElement | null} form */
export function readForm(form) {
  const data = new FormData(form ?? undefined);
  /** @param {string} name */
  const texts = (name) => data.getAll(name).filter((value) => typeof value === 'string');
  return {
    /** @param {string} name */
    text: (name) => texts(name)[0] ?? '',
    texts,
  };
}

/** Returns the text that a field shows for a value. @param {Field['type']} type @param {string} value */
function toFieldValue(type, value) {
  return type === 'time' ? toField(value) : value.replaceAll(/[\r\n]/g, '');
}

/** @param {{ field: Field, id: string, value: string }} properties */
function Input({ field: { name, type = 'text', options, hint = '' }, id, value }) {
  if (options !== undefined)
    return html`<select id=${id} name=${name}>
      <option value="">all</option>
      ${options.map(([key, label]) => html`<option value=${key} selected=${key === value}>${label}</option>`)}
    </select>`;
  if (type === 'time')
    return html`<input
      id=${id}
      name=${name}
      type="datetime-local"
      step="1"
      defaultValue=${toFieldValue(type, value)}
    />`;
  const kind = type === 'number' ? { inputmode: 'numeric', pattern: '[0-9]*' } : {};
  return html`<input
    id=${id}
    name=${name}
    placeholder=${hint}
    spellcheck=${false}
    autocapitalize="none"
    defaultValue=${toFieldValue(type, value)}
    ...${kind}
  />`;
}

/**
 * Shows the equivalent command of the admin CLI; renders nothing if the CLI does not support the action.
 * @param {{ words: readonly string[] | undefined, what?: string }} properties `what` distinguishes the command from
 * other commands of the page
 */
export function Command({ words, what = '' }) {
  const [copied, setCopied] = useState('');
  if (words === undefined) return null;
  // After `--` every argument is positional.
  const end = words.indexOf('--');
  const [options, texts] = end < 0 ? [words, []] : [words.slice(0, end), words.slice(end)];
  const line = ['coherence', ...options, '--json', ...texts].map(quote).join(' ');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(line);
      setCopied('Copied');
    } catch {
      setCopied('Copy failed. Select the text instead.');
    }
  };
  return html`<details class="command">
    <summary>Copy as command${what === '' ? '' : `: ${what}`}</summary>
    <code>${line}</code>
    <button type="button" class="quiet" onClick=${copy}>Copy</button>
    <span role="status">${copied}</span>
  </details>`;
}

/** Quotes a word for POSIX shells. @param {string} word */
function quote(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Returns options of the CLI with their values, without undefined, null and empty values. @param
 * {Readonly<Record<string, string | null | undefined>>} options
 */
export function toOptions(options) {
  return Object.entries(options).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [`--${name}`, value],
  );
}

/**
 * Returns CLI arguments for free text, which may start with `-`. They must be the last arguments of a command. @param
 * {string | null | undefined} text
 */
export function toWords(text) {
  return text === null || text === undefined || text === '' ? [] : ['--', text];
}

/**
 * Shows a dialog as long as it is rendered. The browser restores the focus when the dialog is removed.
 * @param {{ title: string, onClose: () => void, children?: Children }} properties
 */
export function Dialog({ title, onClose, children }) {
  const dialog = /** @type {{ current: HTMLDialogElement | null }} */ (useRef(null));
  const id = useId();
  // A layout effect opens the dialog before the next input event.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return html`<dialog ref=${dialog} aria-labelledby=${id} onClose=${onClose}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </dialog>`;
}

/**
 * Returns `run`, which runs an action unless one is running, and the state of the action.
 * @param {() => Promise<unknown>} work
 */
export function useAct(work) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState('');
  const run = async () => {
    if (busy) return;
    setBusy(true);
    setFailure('');
    try {
      await work();
    } catch (error) {
      setFailure(
        error instanceof CallFailure ? refusalOf(error) : 'Something went wrong. Reload the page and try again.',
      );
    }
    setBusy(false);
  };
  return { busy, failure, run };
}

/** @param {CallFailure} failure */
export function refusalOf(failure) {
  return failure.status === 403 ? `You may not do this. ${failure.message}` : failure.message;
}

/** @param {{ failure: string }} properties */
export function Failure({ failure }) {
  return html`<p class="failure" role="alert">${failure}</p>`;
}

/** A list of labels and values. @param {{ facts: readonly (readonly [string, Children])[] }} properties */
export function Facts({ facts }) {
  return html`<dl class="facts">
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
