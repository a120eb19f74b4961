/**
 * Tokens that the directory is asked about, remembered for less than a second: a revocation is felt on every replica within
 * one (rules/access#credentials; K6), by the event at once and without it when the memory runs out.
 */
import { AppError, unavailable } from '#libs/errors';
import type { CallContext } from '#libs/nats';
import { type Credential, unauthenticated, type UserActor } from './credential.ts';

export interface RememberedCredential extends Credential {
  /** Forgets what is known of an id, e.g. of a session after its logout. */
  forget(id: string): void;
  forgetAll(): void;
}

interface RememberedOptions {
  /** Tokens of the form; the first group, if there is one, is the id of what is revoked, a session or a key. */
  readonly pattern: RegExp;
  /** Asks the directory. @throws AppError unauthenticated; anything else means that it cannot be asked */
  readonly ask: (token: string, call: CallContext) => Promise<Answer>;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: (() => number) | undefined;
}

interface Answer {
  readonly actor: UserActor;
  /** Milliseconds for which the token is good, where it ends by itself. */
  readonly forMs?: number;
}

/** From the moment of asking; with the way there and back it stays below a second. */
const ttlMs = 800;
const maxRemembered = 10_000;

interface Remembered {
  readonly id: string;
  readonly actor: UserActor;
  readonly until: number;
}

interface Question {
  readonly id: string;
  readonly answer: Promise<UserActor>;
  /** Revoked while the question was under way: the answer is not remembered and nobody else joins. */
  stale: boolean;
}

export function createRemembered({ pattern, ask, now = () => performance.now() }: RememberedOptions): RememberedCredential {
  const remembered = new Map<string, Remembered>();
  const questions = new Map<string, Question>();

  const askOnce = async (token: string, call: CallContext): Promise<Required<Answer>> => {
    try {
      const { actor, forMs = ttlMs } = await ask(token, { ...call, actor: undefined });
      return { actor: Object.freeze(actor), forMs };
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') throw unauthenticated();
      throw unavailable('Credentials cannot be checked now', { cause: error });
    }
  };

  const begin = (token: string, newCall: () => CallContext): Question => {
    const askedAt = now();
    const id = pattern.exec(token)?.[1] ?? '';
    const asked = askOnce(token, newCall());
    const question: Question = { id, answer: asked.then(({ actor }) => actor), stale: false };
    questions.set(token, question);
    asked.then(
      ({ actor, forMs }) => {
        if (questions.get(token) === question) questions.delete(token);
        if (question.stale) return;
        if (remembered.size >= maxRemembered) remembered.clear();
        remembered.set(token, { id, actor, until: askedAt + Math.min(ttlMs, forMs) });
      },
      () => {
        if (questions.get(token) === question) questions.delete(token);
      },
    );
    return question;
  };

  return {
    matches: (token) => pattern.test(token),
    verify: (token, newCall) => {
      const known = remembered.get(token);
      if (known !== undefined) {
        if (now() < known.until) return known.actor;
        remembered.delete(token);
      }
      return (questions.get(token) ?? begin(token, newCall)).answer;
    },
    forget: (id) => {
      for (const [token, entry] of remembered) if (entry.id === id) remembered.delete(token);
      for (const [token, question] of questions) {
        if (question.id !== id) continue;
        question.stale = true;
        questions.delete(token);
      }
    },
    forgetAll: () => {
      remembered.clear();
      for (const question of questions.values()) question.stale = true;
      questions.clear();
    },
  };
}
