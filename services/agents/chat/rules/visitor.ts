/** Visitors have no account: their id is the secret that opens their thread (D33a). */
import { createHash, randomBytes } from 'node:crypto';

const shape = /^[A-Za-z0-9_-]{32}$/;

/** 192 random bits as 32 base64url characters. */
export function createVisitorId(): string {
  return randomBytes(24).toString('base64url');
}

/** True for text that could be an id made by {@link createVisitorId}. */
export function isVisitorId(text: string): boolean {
  return shape.test(text);
}

/** Key of a visitor's thread (rules/agents#visitor-chat). */
export function visitorThreadKey(visitorId: string, agentId: number): string {
  return `web:visitor:${visitorId}:agent:${agentId}`;
}

/**
 * Key of the turn that answers a message which its sender has named. Other words, or another visitor, are another message: a name that is
 * used again by mistake gives away nothing and loses nothing.
 */
export function visitorTurnKey(visitorId: string | null, name: string, body: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([visitorId, name, body]))
    .digest('base64url');
  return `web:${digest}`;
}
