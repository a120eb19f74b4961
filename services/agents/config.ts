/** Settings of the agents service (architecture#configuration). */
import {
  actorSettings,
  databaseSettings,
  loadConfig,
  logSettings,
  telemetrySettings,
  natsSettings,
  replySettings,
  outboundSettings,
  secret,
  webhookSettings,
} from '#libs/config';
import { Type } from '#libs/contract';

export const agentsSettings = Type.Object({
  ...natsSettings,
  ...replySettings,
  ...actorSettings,
  ...databaseSettings,
  ...logSettings,
  ...telemetrySettings,
  LLM_BASE_URL: Type.String({
    default: '',
    pattern: '^($|https?://[^\\s]+$)',
    errorMessage: 'must be empty or a URL that starts with http:// or https://',
    description: 'OpenAI-compatible server, up to before /chat/completions; empty = the chat answers 503',
  }),
  LLM_API_KEY: secret(Type.String({ default: '', description: 'key of that server; empty for one that asks for none' })),
  LLM_MODEL: Type.String({ default: 'default', minLength: 1, description: 'model of the chat' }),
  LLM_TIMEOUT_MS: Type.Integer({ default: 60_000, minimum: 10, maximum: 600_000, description: 'time for one attempt; there are two' }),
  LLM_MEMORY_MODEL: Type.String({ default: '', description: 'model that makes the memory; empty = `LLM_MODEL`' }),
  LLM_SUMMARY_MODEL: Type.String({ default: '', description: 'model that writes what is published of conversations; empty = `LLM_MODEL`' }),
  LLM_PROMPT_TOKENS: Type.Integer({
    default: 12_000,
    minimum: 500,
    maximum: 2_000_000,
    description: 'most estimated tokens of a prompt: memory takes up to a third, earlier turns the rest, whole and the newest first',
  }),
  MEMORY_DELAY_MS: Type.Integer({
    default: 10_000,
    minimum: 0,
    maximum: 3_600_000,
    description: 'time after a turn until its thread is remembered; turns in between go together. Agents: six times as long',
  }),
  AGENT_KNOWLEDGE: Type.Union([Type.Literal('off'), Type.Literal('reviewed'), Type.Literal('automatic')], {
    default: 'off',
    description:
      'what visitors tell an agent and others may hear from it: `off` = nothing, `reviewed` = sentences that an operator approved ' +
      '(`agents knowledge`), `automatic` = whatever the model takes for general',
  }),
  TELEGRAM_API_ROOT: Type.String({
    default: 'https://api.telegram.org',
    pattern: '^https?://[^\\s]+$',
    errorMessage: 'must be a URL that starts with http:// or https://',
    description: 'Bot API server, up to before /bot<token>',
  }),
  TELEGRAM_TIMEOUT_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 120_000,
    description: 'time for one call of the Bot API; a send that takes longer has an unknown outcome',
  }),
  ...outboundSettings,
  ...webhookSettings,
  RATE_LIMIT_CHAT_PER_MINUTE: Type.Integer({
    default: 30,
    minimum: 0,
    maximum: 10_000,
    description: 'chat messages of one visitor from one address in any minute; 0 = no limit',
  }),
  RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: Type.Integer({
    default: 60,
    minimum: 0,
    maximum: 10_000,
    description: 'chat messages of all visitors from one IPv4 address or IPv6 /64 to all agents in any minute; 0 = no limit',
  }),
  LLM_DAILY_TOKENS: Type.Integer({
    default: 2_000_000,
    minimum: 0,
    maximum: 1_000_000_000_000,
    description:
      'tokens of chat and memory that each agent may use in a day (UTC); beyond it the chat answers 503 until the next; 0 = no budget',
  }),
});

export type AgentsConfig = ReturnType<typeof loadAgentsConfig>;
export type KnowledgeMode = AgentsConfig['AGENT_KNOWLEDGE'];

/** @throws ConfigError with every problem. */
export function loadAgentsConfig(env?: Readonly<Record<string, string | undefined>>) {
  return loadConfig(agentsSettings, env);
}
