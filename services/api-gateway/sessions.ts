/**
 * Per-user tokens, asked of the directory and remembered for less than a second: a revocation is felt on every replica within
 * one (rules/access#login), by the event at once and without it when the memory runs out.
 */
import type { Actor } from '#libs/contract';
import { AppError, unavailable } from '#libs/errors';
import type { Bus, CallContext } from '#libs/nats';
import { directory } from '#services/directory';

export interface Sessions {
  /** Who the token belongs to. @throws AppError unauthenticated, or unavailable when the directory cannot be asked. */
  verify(token: string, call: CallContext): Promise<Actor>;
  /** Forgets a session, e.g. after its logout. */
  forget(sessionKey: string): void;
}

/** From the moment of asking; with the way there and back it stays below a second. */
const ttlMs = 800;
const maxRemembered = 10_000;
const tokenPattern = /^svc_agentic_([a-z0-9]{32})_[A-Za-z0-9_-]{43}$/;

interface Remembered {
  readonly sessionKey: string;
  readonly actor: Actor;
  readonly askedAt: number;
}

interface Question {
  readonly sessionKey: string;
  readonly answer: Promise<Actor>;
  /** Revoked while the question was under way: the answer is not remembered and nobody else joins. */
  stale: boolean;
}

/** True for text of the shape that login issues; only that is worth asking the directory about. */
export function isUserToken(text: string): boolean {
  return tokenPattern.test(text);
}

/** @param now milliseconds of a clock that never goes back. */
export function createSessions(bus: Pick<Bus, 'call'>, now: () => number = () => performance.now()): Sessions & { forgetAll(): void } {
  const remembered = new Map<string, Remembered>();
  const questions = new Map<string, Question>();

  const ask = async (token: string, call: CallContext): Promise<Actor> => {
    try {
      const { actor } = await bus.call(directory.rpcs.verifySession, { token }, { ...call, actor: undefined });
      return Object.freeze(actor);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') throw error;
      throw unavailable('Credentials cannot be checked now', { cause: error });
    }
  };

  const begin = (token: string, call: CallContext): Question => {
    const askedAt = now();
    const sessionKey = tokenPattern.exec(token)?.[1] ?? '';
    const question: Question = { sessionKey, answer: ask(token, call), stale: false };
    questions.set(token, question);
    question.answer.then(
      (actor) => {
        if (questions.get(token) === question) questions.delete(token);
        if (question.stale) return;
        if (remembered.size >= maxRemembered) remembered.clear();
        remembered.set(token, { sessionKey, actor, askedAt });
      },
      () => {
        if (questions.get(token) === question) questions.delete(token);
      },
    );
    return question;
  };

  return {
    verify: (token, call) => {
      const known = remembered.get(token);
      if (known !== undefined) {
        if (now() - known.askedAt < ttlMs) return Promise.resolve(known.actor);
        remembered.delete(token);
      }
      return (questions.get(token) ?? begin(token, call)).answer;
    },
    forget: (sessionKey) => {
      for (const [token, entry] of remembered) if (entry.sessionKey === sessionKey) remembered.delete(token);
      for (const [token, question] of questions) {
        if (question.sessionKey !== sessionKey) continue;
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
