/**
 * Checks the caller of a call at both ends (docs/adr/signed-actors.md): a process does not send calls that the contract
 * does not allow it, and a responder rejects unverified callers. In addition the broker restricts which services can
 * publish to a subject.
 */
import type { Msg } from '@nats-io/transport-node';
import { type ActorCodec, AssertionRejected, rejectionReasons } from '#libs/infrastructure/actor';
import type { Actor, CallerKind, Rpc } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { inboxRoot } from './connect.ts';

/**
 * Reasons why a request was rejected; a label of metrics. `no_actor` and `wrong_kind`: the operation requires an actor,
 * or another kind of actor. `not_a_call`: see `isCall`. `bad_ticket`: an invalid ticket over internal HTTP.
 */
export const refusals = [...rejectionReasons, 'no_actor', 'wrong_kind', 'not_a_call', 'bad_ticket'] as const;
export type CallRefusal = (typeof refusals)[number];

/**
 * Returns whether the reason for the rejection may be a wrong clock of this process, so that another replica may accept
 * the request.
 */
export const isClockSkew = (refusal: CallRefusal): boolean => refusal === 'early' || refusal === 'expired';

/**
 * A request of an unverified caller: an error of the platform or a forgery. It is retryable where clock skew may be the
 * cause.
 */
export class CallRejected extends AppError {
  readonly refusal: CallRefusal;

  constructor(refusal: CallRefusal) {
    super({ code: isClockSkew(refusal) ? 'unavailable' : 'internal', message: 'The caller cannot be verified' });
    this.refusal = refusal;
  }
}

/** Codec for processes that neither act for actors nor serve calls. */
export const noActors: ActorCodec = {
  encode: () => {
    throw new Error('this process cannot vouch for an actor');
  },
  decode: () => {
    throw new AssertionRejected('unknown_key');
  },
};

const kindOf = (actor: Actor | undefined): CallerKind => actor?.kind ?? 'none';

/**
 * Checks a call before it is sent. @throws Error when the contract does not allow it to `caller`: a programming error
 */
export function checkCall({ subject, callers }: Rpc, caller: string, actor: Actor | undefined): void {
  const kinds = Object.hasOwn(callers, caller) ? callers[caller] : undefined;
  if (kinds?.includes(kindOf(actor)) !== true)
    throw new Error(
      `${caller} may not call ${subject} ${actor === undefined ? 'without an actor' : `for an actor of kind ${actor.kind}`}`,
    );
}

/** Returns all kinds of actors that the operation accepts. */
export function listKinds({ callers }: Rpc): ReadonlySet<CallerKind> {
  return new Set(Object.values(callers).flat());
}

/** Verifies the `Actor` header and returns the actor. @throws CallRejected */
export function authenticateCall(
  actors: ActorCodec,
  kinds: ReadonlySet<CallerKind>,
  assertion: string | undefined,
): Actor | undefined {
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
 * Returns whether a message is a call sent to `subject`. The broker delivers stream messages and its own replies to any
 * subject that a requester states as reply subject, without checking permissions. Such messages have another subject,
 * or a reply subject outside the inboxes.
 */
export function isCall(message: Msg, subject: string): boolean {
  return message.subject === subject && message.reply?.startsWith(inboxRoot) === true;
}
