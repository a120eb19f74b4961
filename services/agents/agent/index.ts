/** Agents as other features look them up. */
export { getAgent } from './get-agent.ts';
export { type Agent, findAgent, findMessagingAgent, type MessagingAgent } from './statements.ts';
