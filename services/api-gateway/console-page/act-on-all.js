/** Acting on many: the count first, then the question, then what became of it (P3, P4, P6). */
import { call, CallFailure } from './calls.js';
import { toFigure } from './language.js';
import { Missing } from './live.js';
import { Command, Dialog, refusalOf } from './parts.js';
import { useAge } from './times.js';
import { html, useEffect, useState } from './ui.js';

/** @typedef {{ matched: number, changed: number, failed: number, missing: readonly string[] }} Counts */
/**
 * @typedef {object} Act
 * @property {string} verb of the button, e.g. `Redrive`
 * @property {string} noun of one thing and, with an `s`, of several
 * @property {string} done what is true of those that were changed, e.g. `queued again`
 * @property {string} explanation
 * @property {string} path
 * @property {Readonly<Record<string, unknown>>} choice `{filter}` or `{ids}`
 * @property {readonly string[] | undefined} command words of the admin CLI that do the same, where it can
 * @property {() => Promise<number>} [countLeft] how many of them are still waited for, after it was done
 */

/** The platform takes a minute at most. */
const timeoutMs = 90_000;
const lookEveryMs = 2_000;

/** @param {{ act: Act, onClose: () => void, onDone: () => void }} properties */
export function ActOnAll({ act, onClose, onDone }) {
  const [counted, setCounted] = useState(/** @type {Counts | undefined} */ (undefined));
  const [result, setResult] = useState(/** @type {Counts | undefined} */ (undefined));
  const [since, setSince] = useState(0);
  const [failure, setFailure] = useState('');
  const { verb, path, choice } = act;

  /** @param {boolean} isDry @param {(counts: Counts) => void} keep */
  const send = async (isDry, keep) => {
    setFailure('');
    try {
      keep(await call('POST', path, { body: { ...choice, ...(isDry ? { dry_run: true } : {}) }, timeoutMs }));
    } catch (error) {
      setFailure(error instanceof CallFailure ? refusalOf(error) : 'This page has a fault.');
    }
  };
  useEffect(() => void send(true, setCounted), []);
  const work = async () => {
    if (since !== 0) return;
    setSince(Date.now());
    await send(false, (counts) => {
      setResult(counts);
      onDone();
    });
    setSince(0);
  };

  const isAsking = counted !== undefined && counted.matched > 0 && result === undefined;
  return html`<${Dialog} title=${`${verb} all that match?`} onClose=${onClose}>
    <p>${act.explanation}</p>
    <div role="status">
      ${
        result === undefined
          ? html`<p>${describeCount(act, counted, failure)}</p>`
          : html`<p><strong>${describeResult(act, result)}</strong></p>`
      }
      ${since === 0 ? null : html`<${Working} since=${since} />`}
    </div>
    ${result === undefined ? null : html`<${Left} act=${act} changed=${result.changed} />`}
    <${Missing}
      names=${(result ?? counted)?.missing}
      what=${result === undefined ? 'What is theirs is not counted.' : 'Once they answer, do it again: what is done changes nothing more.'}
    />
    <p class="failure" role="alert">${failure}</p>
    <p class="buttons">
      ${
        isAsking
          ? html`<button type="button" aria-disabled=${String(since !== 0)} onClick=${work}>
              ${verb} ${count(counted.matched, act.noun)}
            </button>`
          : null
      }
      <button type="button" class="quiet" onClick=${onClose}>${result === undefined && since === 0 ? 'Leave them' : 'Close'}</button>
    </p>
    <${Command} words=${act.command} />
  <//>`;
}

/**
 * @param {Act} act
 * @param {Counts | undefined} counted
 * @param {string} failure
 */
function describeCount({ noun }, counted, failure) {
  if (counted === undefined) return failure === '' ? 'Counting…' : '';
  return counted.matched === 0 ? 'Nothing matches that this could change.' : `${count(counted.matched, noun)} will be changed.`;
}

/**
 * @param {Act} act
 * @param {Counts} result
 */
function describeResult({ noun, done }, { matched, changed, failed, missing }) {
  // Between the count and the act somebody else may have done it.
  if (matched === 0 && missing.length > 0) return 'Nothing was changed.';
  if (matched === 0) return 'Nothing was left to do: somebody else has done it.';
  return `${count(changed, noun)} ${done}${failed === 0 ? '' : `, ${toFigure(failed)} not`}.`;
}

/** @param {number} number @param {string} noun */
function count(number, noun) {
  return `${toFigure(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** @param {{ since: number }} properties */
function Working({ since }) {
  return html`<p><progress aria-label="At work"></progress> <span aria-hidden="true">begun ${useAge(since)}</span></p>`;
}

/** What is left of it, as long as the dialog is open. @param {{ act: Act, changed: number }} properties */
function Left({ act: { countLeft, noun }, changed }) {
  const [left, setLeft] = useState(changed);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (countLeft === undefined || changed === 0) return undefined;
    let timer = 0;
    const look = async () => {
      const now = await countLeft().catch(() => undefined);
      setFailed(now === undefined);
      if (now !== undefined) setLeft(now);
      if (now !== 0) timer = setTimeout(look, lookEveryMs);
    };
    void look();
    return () => clearTimeout(timer);
  }, [changed]);
  if (countLeft === undefined || changed === 0) return null;
  return html`<p>
    <progress aria-label="Worked off" max=${changed} value=${Math.max(0, changed - left)}></progress>
    ${' '}${left === 0 ? `None of them waits any more.` : `${count(left, noun)} of them still wait.`}${failed ? ' (Not counted just now.)' : ''}
  </p>`;
}
