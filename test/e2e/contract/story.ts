/** Runs the story of the documents on a platform: sends the documented requests and compares the responses. */
import { appendFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { fillText, fillTexts, marker, type StoryStep } from '../../../tools/generate/story.ts';
import type { Call, TestPlatform } from '../test-platform.ts';
import type { DocumentedOperation } from './served-documents.ts';

/** The values that the markers of the story have on this platform. */
type Known = Map<string, unknown>;

export interface Told {
  readonly status: number;
  /** Response of the platform. */
  readonly answer: unknown;
  /** The documented response; `answer` is missing if the document has no body. */
  readonly expected: { readonly status: number; readonly answer?: unknown };
}

/** Uploaded files by their name in the story. */
export type StoryFiles = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

/**
 * With `STORY_LOG=FILE`, appends each response to the file, to copy it into the story.
 * @returns a function that sends a step; `loginAs` returns the token of the named person
 */
export function createTeller(platform: TestPlatform, files: StoryFiles, loginAs: (who: string) => Promise<string>) {
  const known: Known = new Map();

  return async (step: StoryStep): Promise<Told> => {
    const operation = platform.recorder.operations.find(({ id }) => id === step.operation);
    if (operation === undefined) throw new Error(`no document has the operation ${step.operation}`);
    const wanted = fillTexts(step, (text) => fillText(text, (name, shown) => known.get(name) ?? shown)) as StoryStep;
    const answer = await platform.call(operation.method, toPath(operation, wanted), await toCall(wanted));
    const given: unknown = answer.json ?? (answer.text === '' ? undefined : answer.text);
    if (process.env['STORY_LOG'] !== undefined)
      appendFileSync(
        process.env['STORY_LOG'],
        `${JSON.stringify({ ...wanted, status: answer.status, answer: given })}\n`,
      );
    const shown =
      step.answer === undefined ? {} : { answer: expectAnswer(step.answer, given, known, step.part === true) };
    return { status: answer.status, answer: given, expected: { status: step.status, ...shown } };
  };

  async function toCall({ as, headers, body, raw, upload }: StoryStep): Promise<Call> {
    const gate = as === 'gate' ? { 'x-svc-api-key': platform.loginSecret } : {};
    const token = as === 'shared' ? platform.sharedToken : as === 'gate' || as === 'nobody' ? null : await loginAs(as);
    const form = new FormData();
    for (const [field, name] of Object.entries(upload ?? {}))
      form.append(field, new Blob([files[name] ?? new Uint8Array()]), name);
    const typed = raw === undefined ? {} : { 'content-type': 'application/json' };
    return {
      token,
      headers: { ...headers, ...gate, ...typed },
      ...(body === undefined ? {} : { json: body }),
      ...(raw === undefined ? {} : { body: raw }),
      ...(upload === undefined ? {} : { body: form }),
    };
  }
}

/** Returns whether the response already matches the story. Steps that wait repeat their request until it does. */
export function isTold({ status, answer, expected }: Told): boolean {
  return status === expected.status && isDeepStrictEqual(answer, expected.answer ?? answer);
}

function toPath({ path }: DocumentedOperation, step: StoryStep): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(step.path?.[name])));
  const values = Object.fromEntries(Object.entries(step.query ?? {}).map(([name, value]) => [name, String(value)]));
  const query = new URLSearchParams(values);
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

/**
 * Returns the documented response with markers replaced by the values of this platform. A value of another form than
 * documented is not replaced, so the comparison fails.
 */
function expectAnswer(shown: unknown, given: unknown, known: Known, isPart: boolean): unknown {
  if (typeof shown === 'string') return expectText(shown, given, known);
  if (Array.isArray(shown)) {
    const list: readonly unknown[] = Array.isArray(given) ? given : [];
    if (!isPart) return shown.map((item, index) => expectAnswer(item, list[index], known, false));
    const isThere = (item: unknown): boolean =>
      list.some((other) => isDeepStrictEqual(expectAnswer(item, other, new Map(known), true), other));
    return shown.every(isThere) ? given : shown;
  }
  if (typeof shown !== 'object' || shown === null) return shown;
  const values = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [key, expectAnswer(value, values[key], known, isPart)]),
  );
}

function expectText(shown: string, given: unknown, known: Known): unknown {
  const markers = [...shown.matchAll(marker)];
  if (markers.length === 0) return shown;
  const pattern = shown
    .split(marker)
    .map((part, index) => (index % 3 === 0 ? escapeRegExp(part ?? '') : index % 3 === 1 ? '([^]+?)' : ''));
  const found = new RegExp(`^${pattern.join('')}$`).exec(String(given));
  if (found === null) return shown;
  for (const [index, [, name = '', example]] of markers.entries()) {
    const isAlone = markers[0]?.[0] === shown;
    const value = isAlone ? given : found[index + 1];
    if (example === undefined) {
      if (known.get(name) !== value) return `${shown}, which is ${String(known.get(name))}`;
    } else {
      // A documented null also accepts a value that was set later.
      if (example !== 'null' && formOf(String(value)) !== formOf(example)) return shown;
      if (name !== '') known.set(name, value);
    }
  }
  return given;
}

/** Returns the form of a text, to compare whether both texts are times, numbers or other texts. */
const formOf = (text: string): string =>
  /^\d{4}-\d\d-\d\dT/.test(text) ? text.replace(/\d/g, '0') : /^\d+$/.test(text) ? 'number' : 'text';

const escapeRegExp = (text: string): string => text.replace(/[.*+?^$()|[\]{}\\]/g, String.raw`\$&`);
