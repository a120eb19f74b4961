/** Settings of the agents service. */
import {
  actorSettings,
  databaseSettings,
  historyRetentionSetting,
  loadConfig,
  logSettings,
  telemetrySettings,
  natsSettings,
  replySettings,
  outboundSettings,
  secret,
  webhookSettings,
} from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';

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
    description: 'base URL of an OpenAI-compatible server, without /chat/completions; empty = the chat returns 503',
  }),
  LLM_API_KEY: secret(Type.String({ default: '', description: 'API key of that server; empty = none' })),
  LLM_MODEL: Type.String({ default: 'default', minLength: 1, description: 'model of the chat' }),
  LLM_TIMEOUT_MS: Type.Integer({
    default: 60_000,
    minimum: 10,
    maximum: 600_000,
    description: 'timeout of one attempt; there are at most two',
  }),
  LLM_MEMORY_MODEL: Type.String({ default: '', description: 'model of the memory jobs; empty = `LLM_MODEL`' }),
  LLM_SUMMARY_MODEL: Type.String({ default: '', description: 'model of publishing summaries; empty = `LLM_MODEL`' }),
  LLM_PROMPT_TOKENS: Type.Integer({
    default: 12_000,
    minimum: 500,
    maximum: 2_000_000,
    description: 'maximum prompt size in estimated tokens: at most a third for memory, the rest for earlier turns',
  }),
  MEMORY_DELAY_MS: Type.Integer({
    default: 10_000,
    minimum: 0,
    maximum: 3_600_000,
    description: 'delay of the memory job after a turn; six times as long for agents',
  }),
  AGENT_KNOWLEDGE: Type.Union([Type.Literal('off'), Type.Literal('reviewed'), Type.Literal('automatic')], {
    default: 'off',
    description:
      'sentences of visitors that an agent can use in other threads: `off` = none, `reviewed` = those approved by an operator ' +
      '(`agents knowledge`), `automatic` = all that the model considers general',
  }),
  TELEGRAM_API_ROOT: Type.String({
    default: 'https://api.telegram.org',
    pattern: '^https?://[^\\s]+$',
    errorMessage: 'must be a URL that starts with http:// or https://',
    description: 'base URL of the Bot API, without /bot<token>',
  }),
  TELEGRAM_TIMEOUT_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 120_000,
    description: 'timeout of a Bot API call',
  }),
  ...outboundSettings,
  ...webhookSettings,
  HISTORY_RETENTION_DAYS: historyRetentionSetting,
  RATE_LIMIT_CHAT_PER_MINUTE: Type.Integer({
    default: 30,
    minimum: 0,
    maximum: 10_000,
    description: 'chat messages per minute of one visitor at one address; 0 = no limit',
  }),
  RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: Type.Integer({
    default: 60,
    minimum: 0,
    maximum: 10_000,
    description: 'chat messages per minute from one IPv4 address or IPv6 /64 to all agents; 0 = no limit',
  }),
  LLM_DAILY_TOKENS: Type.Integer({
    default: 2_000_000,
    minimum: 0,
    maximum: 1_000_000_000_000,
    description: 'tokens per agent and day (UTC); then the chat returns 503; 0 = no limit',
  }),
});

export type AgentsConfig = ReturnType<typeof loadAgentsConfig>;
export type KnowledgeMode = AgentsConfig['AGENT_KNOWLEDGE'];

/** @throws ConfigError with every problem. */
export function loadAgentsConfig(env?: Readonly<Record<string, string | undefined>>) {
  return loadConfig(agentsSettings, env);
}
