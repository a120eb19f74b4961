/**
 * Who may call, on both sides of a call (docs/adr/signed-actors.md): a process refuses to make a call that its contract does not grant
 * it, and a responder refuses one whose caller it cannot believe. That only the named services can publish at all is the broker's part.
 */
import type { Msg } from '@nats-io/transport-node';
import { type ActorCodec, AssertionRejected, rejectionReasons } from '#libs/actor';
import type { Actor, CallerKind, Rpc } from '#libs/contract';
import { AppError } from '#libs/errors';
import { inboxRoot } from './connect.ts';

/**
 * Why a request was not served; a label of metrics. `no_actor` and `wrong_kind`: the operation asks for another kind of caller; `not_a_call`:
 * see `isCall`; `bad_ticket`: of a request over internal HTTP.
 */
export const refusals = [...rejectionReasons, 'no_actor', 'wrong_kind', 'not_a_call', 'bad_ticket'] as const;
export type CallRefusal = (typeof refusals)[number];

/** What was signed in the future, or is too old, may show that the clock of this process is wrong: another replica may answer. */
export const isClockSkew = (refusal: CallRefusal): boolean => refusal === 'early' || refusal === 'expired';

/** A request whose caller is not believed: a fault of the platform or a forgery, never the client's, who may ask again where a clock may be wrong. */
export class CallRejected extends AppError {
  readonly refusal: CallRefusal;

  constructor(refusal: CallRefusal) {
    super({ code: isClockSkew(refusal) ? 'unavailable' : 'internal', message: 'The caller cannot be verified' });
    this.refusal = refusal;
  }
}

/** For processes that call for nobody and serve nobody. */
export const noActors: ActorCodec = {
  encode: () => {
    throw new Error('this process cannot vouch for an actor');
  },
  decode: () => {
    throw new AssertionRejected('unknown_key');
  },
};

const kindOf = (actor: Actor | undefined): CallerKind => actor?.kind ?? 'none';

/** @throws Error when the contract does not let `caller` make such a call: a fault in its code. */
export function checkCall({ subject, callers }: Rpc, caller: string, actor: Actor | undefined): void {
  const kinds = Object.hasOwn(callers, caller) ? callers[caller] : undefined;
  if (kinds?.includes(kindOf(actor)) !== true)
    throw new Error(`${caller} may not call ${subject} ${actor === undefined ? 'without an actor' : `for an actor of kind ${actor.kind}`}`);
}

/** Every kind of caller that the operation takes from anybody. */
export function listKinds({ callers }: Rpc): ReadonlySet<CallerKind> {
  return new Set(Object.values(callers).flat());
}

/** The actor of a request's `Actor` header. @throws CallRejected */
export function authenticateCall(actors: ActorCodec, kinds: ReadonlySet<CallerKind>, assertion: string | undefined): Actor | undefined {
  const actor = assertion === undefined || assertion === '' ? undefined : readAssertion(actors, assertion);
  if (!kinds.has(kindOf(actor))) throw new CallRejected(actor === undefined ? 'no_actor' : 'wrong_kind');
  return actor;
}

function readAssertion(actors: ActorCodec, text: string): Actor {
  try {
    return actors.decode(text);
  } catch (error) {
    if (error instanceof AssertionRejected) throw new CallRejected(error.reason);
    throw error;
  }
}

/**
 * Whether a message was sent to `subject` by somebody who waits for an answer. The broker delivers messages of a stream, and answers of its
 * own, to whatever subject the asker names as the place of the answer, without looking at what the asker may publish: such a message keeps the
 * stream's subject, or waits for no answer on an inbox.
 */
export function isCall(message: Msg, subject: string): boolean {
  return message.subject === subject && message.reply?.startsWith(inboxRoot) === true;
}
