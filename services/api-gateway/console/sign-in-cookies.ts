/**
 * What the browser keeps while somebody signs in at the identity provider, and for signing out there (S3; D105). Each sign-in has a cookie of its own, so that
 * those of several tabs do not know of each other: when it began, what is sealed, and the page that was asked for.
 */
import { createHash } from 'node:crypto';
import { signInSeconds } from '#libs/oidc';
import { readPlace } from './place.ts';

export const signInPath = '/console/sign-in';
export const signOutPath = '/console/sign-out';

export interface PendingSignIn {
  readonly name: string;
  /** Seconds since 1970; 0 when somebody else wrote the cookie. */
  readonly startedAt: number;
  readonly kept: string | undefined;
  readonly place: string;
}

/** Sign-ins that a browser has under way; with one more the oldest is given up. */
const maxPending = 5;
/** In no sealed text, and in no place as the cookie has it. */
const divider = '|';
const askAgainSeconds = 30 * 86_400;

export class SignInCookies {
  readonly #prefix: string;
  readonly #isLocal: boolean;
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(isLocal: boolean, header = '') {
    this.#isLocal = isLocal;
    this.#prefix = isLocal ? '' : '__Secure-';
    const pairs = header.split(';').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return { name: name.trim(), value: value.join('=').trim() };
    });
    this.#values = new Map([...Map.groupBy(pairs, ({ name }) => name)].map(([name, same]) => [name, same.map(({ value }) => value)]));
  }

  /** The sign-in that the state of a callback names; undefined when this browser has none such. */
  find(state: string | null): PendingSignIn | undefined {
    const name = this.#nameOf(state ?? '');
    const value = this.#read(name);
    return value === undefined ? undefined : readPending(name, value);
  }

  /** `Set-Cookie` of one more sign-in, and of those that are given up for it. */
  add({ state, kept, place, nowMs }: { state: string; kept: string; place: string; nowMs: number }): string[] {
    const value = [Math.floor(nowMs / 1_000), kept, encodeURIComponent(place)].join(divider);
    const older = this.#list().toSorted((left, right) => right.startedAt - left.startedAt);
    const given = older.slice(maxPending - 1).map((pending) => this.remove(pending));
    return [`${this.#nameOf(state)}=${value}${this.#attributes(signInPath)}; Max-Age=${signInSeconds}`, ...given];
  }

  remove({ name }: Pick<PendingSignIn, 'name'>): string {
    return `${name}=${this.#attributes(signInPath)}; Max-Age=0`;
  }

  /** What tells the provider whose session ends. Of one site alone: no other may sign somebody out. */
  get forEnd(): string | undefined {
    return this.#read(this.#endName);
  }

  keepForEnd(kept: string | undefined): string {
    const attributes = this.#attributes(signOutPath).replace('SameSite=Lax', 'SameSite=Strict');
    return `${this.#endName}=${kept ?? ''}${attributes}${kept === undefined ? '; Max-Age=0' : ''}`;
  }

  /** The provider is to ask for credentials, because its own session could not be ended. */
  get asksAgain(): boolean {
    return this.#values.has(this.#againName);
  }

  askAgain(wanted: boolean): string {
    return `${this.#againName}=${wanted ? 1 : ''}${this.#attributes(signInPath)}; Max-Age=${wanted ? askAgainSeconds : 0}`;
  }

  get #endName(): string {
    return `${this.#prefix}coherence_sign_out`;
  }

  get #againName(): string {
    return `${this.#prefix}coherence_ask_again`;
  }

  /** The state itself is sealed in the value. */
  #nameOf(state: string): string {
    return `${this.#prefix}coherence_sign_in_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
  }

  #list(): PendingSignIn[] {
    const own = [...this.#values].filter(([name]) => name.startsWith(`${this.#prefix}coherence_sign_in_`));
    return own.map(([name, [value = '']]) => readPending(name, value));
  }

  /** Undefined when there is none, or more than one: a neighbour under the same domain could add one. */
  #read(name: string): string | undefined {
    const values = this.#values.get(name);
    return values?.length === 1 ? values[0] : undefined;
  }

  /** Lax: the provider sends the browser back from its own site. */
  #attributes(path: string): string {
    return `; Path=${path}; HttpOnly; SameSite=Lax${this.#isLocal ? '' : '; Secure'}`;
  }
}

function readPending(name: string, value: string): PendingSignIn {
  const [startedAt = '', kept, place = ''] = value.split(divider);
  return { name, startedAt: /^\d{1,12}$/.test(startedAt) ? Number(startedAt) : 0, kept, place: readPlace(decode(place)) };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
