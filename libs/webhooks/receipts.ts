/** What receipts keep of what anybody may post (D64, D68): one set of rules for every service that has receipts. */
import { createHash } from 'node:crypto';

/** Outcome of an event on a hook that has no secret, where unsigned ones are not allowed. */
export const unsignedOutcome = 'rejected_unsigned';
/** Its message; `secret` says what would have to be set. */
export const describeUnsigned = (secret: string): string =>
  `${secret} is not set, so nobody vouches for the event. Set it; for development, ALLOW_UNSIGNED_WEBHOOKS=true takes such events.`;

/** What a receipt has of a body. */
export interface KeptBody {
  readonly body: Buffer | null;
  /** SHA-256 of the body as it came, in hex; null when it was too large to be read. */
  readonly digest: string | null;
  /** Bytes of the body as it came; null as above. */
  readonly size: number | null;
}

/** Nothing follows from it. With what was rejected, these rows go with their time; the others stay without their bodies. */
export const passingOutcomes = ['ignored', 'agent_not_found'];
/** Worked again once a later version reads them, or the agent is there (D68, P8); anybody may post the latter, so that they are bounded. */
const replayedOutcomes = ['rejected_unreadable', 'agent_not_found'];
const maxReplayedBytes = 65_536;
const anySize = 2_147_483_647;

/** The most bytes of a body that stays with an outcome; of what was rejected or ignored only digest and size stay, -1 (D68). */
export function keptBytes(outcome: string): number {
  if (replayedOutcomes.includes(outcome)) return maxReplayedBytes;
  return passingOutcomes.includes(outcome) || outcome.startsWith('rejected_') ? -1 : anySize;
}

/** What a new receipt keeps of a body. */
export function keepBody(outcome: string, body: Buffer | null): KeptBody {
  if (body === null) return { body, digest: null, size: null };
  const digest = createHash('sha256').update(body).digest('hex');
  return { body: body.length > 0 && body.length <= keptBytes(outcome) ? body : null, digest, size: body.length };
}

/** Why a receipt cannot be worked again. */
export function describeMissingBody(outcome: string): string {
  const kept = keptBytes(outcome);
  if (kept === anySize) return 'The body is gone: it was older than RECEIPT_RETENTION_DAYS, or named a person who was erased.';
  if (kept < 0) return 'The body of what was rejected or ignored is not kept; let the sender send it again.';
  return `The body is gone, or was not kept: it had more than ${kept} bytes, or came with too many others. Let the sender send it again.`;
}

const maxRefusedHeader = 200;

/** What a new receipt keeps of the headers: of a refusal as much of each as tells what it was. */
export function keepHeaders(outcome: string, headers: Readonly<Record<string, string>>): Record<string, string> {
  const limit = keptBytes(outcome) === anySize ? Infinity : maxRefusedHeader;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.slice(0, limit)]));
}
