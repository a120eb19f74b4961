/** One attempt to deliver: a POST, and what became of it (V6). */
import { type Outbound, OutboundError, type OutboundFailure, type OutboundReply } from '#libs/outbound';
import { formatInstant } from '#libs/time';
import type { DeliveryAttempt } from './contract.ts';
import { signedHeaders } from './rules.ts';

/** Within it an endpoint answers, or the attempt has failed. */
export const answerMs = 15_000;
/** Of what it answers; nothing of it is kept. */
const maxAnswerBytes = 65_536;

const errors: Readonly<Record<OutboundFailure, NonNullable<DeliveryAttempt['error']>>> = {
  timeout: 'timeout',
  connect: 'connection_failed',
  forbidden_address: 'forbidden_address',
  invalid_url: 'connection_failed',
  too_large: 'connection_broken',
  aborted: 'connection_broken',
  broken: 'connection_broken',
};

interface Message {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  readonly secrets: readonly Uint8Array[];
}

interface Posted {
  readonly attempt: DeliveryAttempt;
  /** The connection is free again, or gone. Never rejects. */
  readonly drained: Promise<void>;
}

/** Never follows a redirect; fails by what it returns. @throws what is no failure of the endpoint */
export async function post(outbound: Outbound, { url, id, body, secrets }: Message): Promise<Posted> {
  const atMs = Date.now();
  const began = performance.now();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Coherence-Webhooks/1',
    ...signedHeaders(id, atMs, body, secrets),
  };
  const end = (status: number | null, error: DeliveryAttempt['error']): DeliveryAttempt => ({
    at: formatInstant(BigInt(atMs) * 1000n),
    status_code: status,
    error,
    duration_ms: Math.round(performance.now() - began),
  });
  try {
    const reply = await outbound.request({ method: 'POST', url, headers, body, timeoutMs: answerMs, maxBytes: maxAnswerBytes });
    const { status } = reply;
    const error = status >= 200 && status < 300 ? null : status >= 300 && status < 400 ? 'redirect' : 'status';
    return { attempt: end(status, error), drained: drain(reply) };
  } catch (error) {
    if (error instanceof OutboundError) return { attempt: end(null, errors[error.kind]), drained: Promise.resolve() };
    throw error;
  }
}

/** Takes what was answered, as far as it is short and comes in time, so that the connection can be used again. */
async function drain(reply: OutboundReply): Promise<void> {
  try {
    for await (const _chunk of reply.body);
  } catch {
    reply.discard();
  }
}
