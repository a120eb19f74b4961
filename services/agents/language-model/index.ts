/**
 * Calls the language model, records usage per agent and day and in metrics, and enforces the daily token budget (D71).
 */
import { createHash } from 'node:crypto';
import type { Logger } from '#libs/infrastructure/logger';
import {
  type Completion,
  createModel,
  initialPlainReplies,
  type Model,
  ModelFailure,
  type ModelUsage,
  plainRepliesRequired,
  type PromptMessage,
  type TextListener,
  type ThinkingHabit,
} from '#libs/infrastructure/openai';
import type { Database } from '#libs/infrastructure/orm';
import {
  findTracer,
  type Metrics,
  errorTypeOf,
  serverAttributes,
  type Span,
  type SpanAttributes,
} from '#libs/infrastructure/telemetry';
import {
  addUsage,
  correctTokens,
  countPlainReply,
  findMaxTokens,
  findPlainReplies,
  reserveTokens,
  type UsagePurpose,
} from './statements.ts';
import type { AgentsConfig } from '../config.ts';
import { estimateMessage, estimateTokens } from '../model-text.ts';

/** Assumed size of a reply before the actual size is known. */
const assumedReplyTokens = 1_000;

export interface ModelRequest {
  /** Null when the call is not for an agent; then neither budget nor daily usage apply. */
  readonly agentId: number | null;
  readonly purpose: UsagePurpose | 'publishing';
  readonly messages: readonly PromptMessage[];
  readonly signal: AbortSignal;
  /** Called with the reply while the model writes. */
  readonly listener?: TextListener | undefined;
}

export interface MeasuredModel {
  /** Calls the model. @throws ModelFailure; BudgetExceeded before the model is called */
  complete(request: ModelRequest): Promise<Completion>;
}

/** Creates the measured model. `models` contains one model per purpose. */
export function createMeasuredModel(deps: {
  db: Database;
  logger: Logger;
  metrics: Metrics;
  models: Readonly<Record<ModelRequest['purpose'], Model>>;
  budget: TokenBudget;
}): MeasuredModel {
  const { db, logger, budget } = deps;
  const answers = deps.metrics.red('llm_requests', 'Requests to the language model', ['purpose']);
  const tokens = deps.metrics.counter('llm_tokens_total', 'Tokens that the language model reported', [
    'purpose',
    'direction',
  ]);

  /** Records the usage of a call. If storing fails, the call still succeeds. */
  async function recordUsage(
    request: ModelRequest,
    result: CallResult,
    startedMs: number,
    spend: (tokens: number) => Promise<void>,
    traceparent?: string,
  ): Promise<void> {
    const { agentId, purpose } = request;
    const { outcome, usage } = result;
    const durationMs = performance.now() - startedMs;
    answers.observe({ purpose }, outcome, durationMs / 1000, traceparent);
    tokens.inc({ purpose, direction: 'in' }, usage.promptTokens ?? 0);
    tokens.inc({ purpose, direction: 'out' }, usage.completionTokens ?? 0);
    if (agentId === null || purpose === 'publishing') return;
    const { promptTokens, completionTokens } = usage;
    const used = {
      agentId,
      purpose,
      failed: outcome !== 'ok',
      isUnreported: promptTokens === undefined && completionTokens === undefined,
      promptTokens: Math.round(promptTokens ?? 0),
      completionTokens: Math.round(completionTokens ?? 0),
      durationMs: Math.round(durationMs),
    };
    await Promise.all([addUsage(db, used), spend(costOf(request, result))]).catch((error: unknown) => {
      logger.warn({ err: error }, 'language model: failed to store usage');
    });
  }

  return {
    complete: async (request) => {
      const { agentId, purpose, messages, signal, listener } = request;
      const spend =
        agentId === null
          ? async () => undefined
          : await budget.reserve(agentId, estimatePrompt(messages) + assumedReplyTokens);
      const startedMs = performance.now();
      const model = deps.models[purpose];
      const span = startSpan(purpose, model);
      try {
        const send = (): Promise<Completion> => model.complete(messages, signal, listener);
        const answer = await (span === undefined ? send() : span.run(send));
        span?.end({ attributes: usageAttributes(answer) });
        await recordUsage(request, { outcome: 'ok', ...answer }, startedMs, spend, span?.traceparent);
        return answer;
      } catch (error) {
        const isFailure = error instanceof ModelFailure;
        span?.end({
          error: isFailure ? error.kind : errorTypeOf(error),
          attributes: isFailure ? usageAttributes(error) : {},
        });
        if (isFailure)
          await recordUsage(request, { outcome: error.kind, usage: error.usage }, startedMs, spend, span?.traceparent);
        throw error;
      }
    },
  };
}

/** Starts the span of a call. The provider is `openai` for the protocol; the vendor of the server is unknown. */
function startSpan(purpose: ModelRequest['purpose'], { name, baseUrl }: Model): Span | undefined {
  const tracer = findTracer();
  if (tracer === undefined) return undefined;
  const server = URL.parse(baseUrl);
  return tracer.startChild(`llm ${purpose}`, 'client', {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': name,
    ...(server === null ? {} : serverAttributes(server)),
  });
}

function usageAttributes({ usage, model }: { readonly usage: ModelUsage; readonly model?: string }): SpanAttributes {
  const { promptTokens, completionTokens } = usage;
  return {
    ...(model === undefined ? {} : { 'gen_ai.response.model': model }),
    ...(promptTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': promptTokens }),
    ...(completionTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': completionTokens }),
  };
}

interface CallResult {
  readonly outcome: 'ok' | ModelFailure['kind'];
  readonly usage: ModelUsage;
  readonly written?: string;
}

/** Outcomes of calls that generated no tokens. */
const unbilled = new Set<CallResult['outcome']>(['connection', 'status']);

/** Returns the tokens of a call: as the server reported them, otherwise estimated. */
function costOf({ messages }: ModelRequest, { outcome, usage, written }: CallResult): number {
  const { promptTokens, completionTokens } = usage;
  if (unbilled.has(outcome)) return (promptTokens ?? 0) + (completionTokens ?? 0);
  return (
    (promptTokens ?? estimatePrompt(messages)) +
    (completionTokens ?? (written === undefined ? assumedReplyTokens : estimateTokens(written)))
  );
}

function estimatePrompt(messages: readonly PromptMessage[]): number {
  return messages.reduce((sum, { content }) => sum + estimateMessage(content), 0);
}

/**
 * Daily token budget of an agent (D71). A call reserves an estimate and corrects it afterwards, so that concurrent
 * calls see each other's reservation. The budget can be exceeded by one estimate plus the tokens that running calls use
 * beyond their estimates. The estimate of a crashed process remains counted.
 */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
  /** Seconds until the next day (UTC). */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('The daily token budget of the agent is used up.');
    this.retryAfter = retryAfter;
  }
}

export interface TokenBudget {
  /**
   * Reserves the estimated tokens. Returns a function that the caller calls with the actual number of tokens. @throws
   * BudgetExceeded
   */
  reserve(agentId: number, estimatedTokens: number): Promise<(tokens: number) => Promise<void>>;
}

/** Creates the token budget. @param dailyTokens per agent; 0 = unlimited. */
export function createTokenBudget({
  db,
  metrics,
  dailyTokens,
}: {
  db: Database;
  metrics: Metrics;
  dailyTokens: number;
}): TokenBudget {
  const refused = metrics.counter(
    'llm_budget_refused_total',
    'Calls rejected because the daily token budget was used up',
  );
  metrics.gauge(
    'llm_budget_used_ratio',
    'Highest share of the daily token budget used by an agent',
    [],
    async (gauge) => {
      gauge.set(dailyTokens === 0 ? 0 : (await findMaxTokens(db)).tokens / dailyTokens);
    },
  );
  return {
    reserve: async (agentId, estimatedTokens) => {
      if (dailyTokens === 0) return async () => undefined;
      const { day, secondsLeft } = await reserveTokens(db, { agentId, tokens: estimatedTokens, limit: dailyTokens });
      if (day === null) {
        refused.inc();
        throw new BudgetExceeded(secondsLeft);
      }
      return (tokens) => correctTokens(db, { agentId, day, difference: tokens - estimatedTokens });
    },
  };
}

/**
 * Stores a model's thinking habit for all replicas, by model and address (D84). While the database is unavailable, a
 * model counts as new.
 */
export function createStoredHabit(
  { db, logger }: { db: Database; logger: Logger },
  { baseUrl, model: name }: { readonly baseUrl: string; readonly model: string },
): ThinkingHabit {
  // The key is hashed, since an address can contain a password.
  const model = createHash('sha256')
    .update(JSON.stringify([baseUrl, name]))
    .digest('base64url');
  const initial = initialPlainReplies(name);
  const warn = (err: unknown): undefined => {
    logger.warn({ err }, 'language model: failed to read or store the thinking habit');
    return undefined;
  };
  return {
    isPlain: async () =>
      ((await findPlainReplies(db, { model }).catch(warn))?.plainAnswers ?? initial) >= plainRepliesRequired,
    record: async (isUnopened) => {
      await countPlainReply(db, { model, isUnopened, initial, max: plainRepliesRequired }).catch(warn);
    },
  };
}

/** Returns undefined when no language model is configured. */
export function createConfiguredModel(
  config: AgentsConfig,
  deps: { db: Database; logger: Logger; metrics: Metrics },
): MeasuredModel | undefined {
  if (config.LLM_BASE_URL === '') return undefined;
  const settings = { baseUrl: config.LLM_BASE_URL, apiKey: config.LLM_API_KEY, timeoutMs: config.LLM_TIMEOUT_MS };
  const create = (model: string): Model =>
    createModel({ ...settings, model, habit: createStoredHabit(deps, { ...settings, model }) });
  const models = {
    chat: create(config.LLM_MODEL),
    memory: create(config.LLM_MEMORY_MODEL || config.LLM_MODEL),
    publishing: create(config.LLM_SUMMARY_MODEL || config.LLM_MODEL),
  };
  return createMeasuredModel({
    ...deps,
    models,
    budget: createTokenBudget({ ...deps, dailyTokens: config.LLM_DAILY_TOKENS }),
  });
}
