/** What an assertion says, and for how long. It is a compact JWS (RFC 7515), so that a tool can read one. */
import type { Actor } from '#libs/contract';

/** Seconds since the epoch, as in a JWT. */
export interface Claims {
  readonly actor: Actor;
  readonly iat: number;
  readonly exp: number;
  /** The one HTTP request that it is for: `<method> <path>`. Absent: any RPC within the rights of whoever holds it. */
  readonly req?: string;
}

/** Life of an assertion. Whoever takes a service over can act for the people who use it just then for so long, and for nobody else. */
export const assertionLifetimeMs = 120_000;
/** After this the gateway makes a new one, so that what a request carries lives longer than any request. */
export const renewAfterMs = assertionLifetimeMs / 2;
/** By so much clocks of two machines may differ. */
export const maxClockSkewMs = 5_000;

/** How a process writes and reads the `Actor` header of calls (architecture#actors). */
export interface ActorCodec {
  /** The assertion for an actor. @throws Error for one that this process can vouch for by nothing */
  encode(actor: Actor): string;
  /** The actor of an assertion. @throws AssertionRejected */
  decode(text: string): Actor;
}

/** Why an assertion is not believed; a label of metrics. */
export const rejectionReasons = ['malformed', 'unknown_key', 'bad_signature', 'expired', 'early', 'other_request'] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** An assertion that is not believed. */
export class AssertionRejected extends Error {
  readonly reason: RejectionReason;

  constructor(reason: RejectionReason) {
    super(`the actor is not believed: ${reason.replace('_', ' ')}`);
    this.name = 'AssertionRejected';
    this.reason = reason;
  }
}
