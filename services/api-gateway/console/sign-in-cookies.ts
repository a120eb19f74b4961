/**
 * Cookies of signing in and out at the identity provider (S3; D105). Each pending sign-in has its own cookie with start
 * time, sealed state and return URL, so that several tabs do not interfere.
 */
import { createHash } from 'node:crypto';
import { signInSeconds } from '#libs/oidc';
import { parseReturnUrl } from './return-url.ts';

export const signInPath = '/console/sign-in';
export const signOutPath = '/console/sign-out';

export interface PendingSignIn {
  readonly name: string;
  /** Seconds since 1970; 0 when the value is invalid. */
  readonly startedAt: number;
  readonly sealedState: string | undefined;
  readonly returnUrl: string;
}

/** Pending sign-ins per browser; a further one replaces the oldest. */
const maxPending = 5;
/** Occurs neither in sealed states nor in encoded URLs. */
const divider = '|';
const requireLoginSeconds = 30 * 86_400;

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
    this.#values = new Map(
      [...Map.groupBy(pairs, ({ name }) => name)].map(([name, same]) => [name, same.map(({ value }) => value)]),
    );
  }

  /** The pending sign-in of a callback's state; undefined when this browser has none. */
  find(state: string | null): PendingSignIn | undefined {
    const name = this.#nameOf(state ?? '');
    const value = this.#read(name);
    return value === undefined ? undefined : readPending(name, value);
  }

  /** `Set-Cookie` of a new sign-in, and of the replaced ones. */
  add({
    state,
    sealedState,
    returnUrl,
    nowMs,
  }: {
    state: string;
    sealedState: string;
    returnUrl: string;
    nowMs: number;
  }): string[] {
    const value = [Math.floor(nowMs / 1_000), sealedState, encodeURIComponent(returnUrl)].join(divider);
    const older = this.#list().toSorted((left, right) => right.startedAt - left.startedAt);
    const replaced = older.slice(maxPending - 1).map((pending) => this.remove(pending));
    return [`${this.#nameOf(state)}=${value}${this.#attributes(signInPath)}; Max-Age=${signInSeconds}`, ...replaced];
  }

  remove({ name }: Pick<PendingSignIn, 'name'>): string {
    return `${name}=${this.#attributes(signInPath)}; Max-Age=0`;
  }

  /** Identifies the session to the provider at sign-out. SameSite=Strict: other sites cannot sign users out. */
  get signOutHint(): string | undefined {
    return this.#read(this.#signOutName);
  }

  setSignOutHint(hint: string | undefined): string {
    const attributes = this.#attributes(signOutPath).replace('SameSite=Lax', 'SameSite=Strict');
    return `${this.#signOutName}=${hint ?? ''}${attributes}${hint === undefined ? '; Max-Age=0' : ''}`;
  }

  /** Whether the provider must ask for credentials, because its own session could not be ended. */
  get requiresLogin(): boolean {
    return this.#values.has(this.#requiresLoginName);
  }

  setRequiresLogin(isRequired: boolean): string {
    return `${this.#requiresLoginName}=${isRequired ? 1 : ''}${this.#attributes(signInPath)}; Max-Age=${isRequired ? requireLoginSeconds : 0}`;
  }

  get #signOutName(): string {
    return `${this.#prefix}coherence_sign_out`;
  }

  get #requiresLoginName(): string {
    return `${this.#prefix}coherence_ask_again`;
  }

  /** The name contains a hash only; the state is sealed in the value. */
  #nameOf(state: string): string {
    return `${this.#prefix}coherence_sign_in_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
  }

  #list(): PendingSignIn[] {
    const own = [...this.#values].filter(([name]) => name.startsWith(`${this.#prefix}coherence_sign_in_`));
    return own.map(([name, [value = '']]) => readPending(name, value));
  }

  /** Undefined when there is none, or more than one: a sibling host of the same domain could add one. */
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
  const [startedAt = '', sealedState, returnUrl = ''] = value.split(divider);
  return {
    name,
    startedAt: /^\d{1,12}$/.test(startedAt) ? Number(startedAt) : 0,
    sealedState,
    returnUrl: parseReturnUrl(decode(returnUrl)),
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
