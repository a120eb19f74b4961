/** Test fixture: the agents service with a scripted language model. */
import { type AgentItem, agents } from '#services/agents';
import type { ReplyOf, RequestOf, Rpc, Static } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { Service } from '#libs/infrastructure/lifecycle';
import { type Bus, connectBus, newContext } from '#libs/infrastructure/nats';
import {
  contextFor,
  createTestEnvironment,
  type LlmServer,
  startLlm,
  startService,
  type TestEnvironment,
} from '#libs/product/testing';

export interface ChatReply {
  readonly visitor_id: string;
  readonly thread_key: string;
  readonly human_html: string;
  readonly agent_html: string;
  readonly created_at: string;
}

export interface AgentFixture {
  readonly env: TestEnvironment;
  readonly bus: Bus;
  readonly llm: LlmServer;
  readonly service: Service;
  /** Sends a visitor's message. */
  say(
    body: string,
    more?: { visitor_id?: string | null; slug?: string; ip?: string; deadlineMs?: number; name?: string | null },
  ): Promise<ChatReply>;
  /** Calls as a superuser, or as the CLI where it may. */
  call<R extends Rpc>(rpc: R, request: RequestOf<R>): Promise<ReplyOf<R>>;
  apply(items: readonly unknown[], dryRun?: boolean): Promise<Applied>;
  /** Returns the texts of all recorded messages of an agent, oldest first. */
  recorded(slug?: string): Promise<string[]>;
  /** Starts another replica of the agents service. */
  replica(overrides?: Record<string, string>): Promise<Service>;
  stop(): Promise<void>;
}
export type Item = Static<typeof AgentItem>;
export interface Applied {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly ids: { readonly agents: Readonly<Record<string, number>> };
  readonly diff: readonly {
    readonly key: string;
    readonly action: string;
    readonly fields: readonly { readonly field: string }[];
  }[];
}

export async function startAgentFixture(
  fileUrl: string,
  overrides: Record<string, string> = {},
): Promise<AgentFixture> {
  const env = await createTestEnvironment(fileUrl);
  const llm = await startLlm();
  env.onStop(() => llm.stop());
  const settings = {
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
    LLM_MODEL: 'scripted',
    LLM_TIMEOUT_MS: '600',
    MEMORY_DELAY_MS: '3600000',
    ...overrides,
  };
  // A short polling interval, so that retried jobs start soon.
  const tuning = { pollMs: 200 };
  const service = await startService('agents', env, settings, { tuning });
  const { NATS_URL: url = '', NATS_SUBJECT_PREFIX: prefix } = env.settings;
  const bus = await connectBus({ url, prefix, name: 'admin', logger: env.logger, actors: env.actors });
  env.onStop(() => bus.close());
  const { applyWorkspace, sendChatMessage } = agents.rpcs;
  return {
    env,
    bus,
    llm,
    service,
    say: async (body, { visitor_id = null, slug = 'guide', ip = '10.0.0.1', deadlineMs, name = null } = {}) => {
      const request = { agent_slug: slug, body, visitor_id, idempotency_key: name, ip };
      return bus.call(sendChatMessage, request, { ...newContext(), deadlineMs });
    },
    call: (rpc, request) => bus.call(rpc, request, contextFor(rpc)),
    apply: (items, dryRun = false) => bus.call(applyWorkspace, { agents: [...items], dry_run: dryRun }, newContext()),
    recorded: async (slug = 'guide') => {
      const rows = await env.sql<{ body: string }>(
        `select m.body from agents.messages m join agents.threads t on t.id = m.thread_id join agents.agents a on a.id = t.agent_id
         where a.slug = $1 order by m.id`,
        [slug],
      );
      return rows.map((row) => row.body);
    },
    replica: (more = {}) => startService('agents', env, { ...settings, ...more }, { tuning }),
    stop: () => env.stop(),
  };
}

/** Returns the error with which a call fails. */
export async function failureOf(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the call did not fail');
}
