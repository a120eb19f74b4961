/** Agents as other features look them up. */
export { findAgent, findMessagingAgent, getAgent } from './find-agent.ts';
export type { Agent, MessagingAgent } from './statements.ts';
