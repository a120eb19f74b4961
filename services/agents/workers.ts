/** The jobs that the service works. */
import type { Jobs, OnDead } from '#libs/jobs';
import type { Bus } from '#libs/nats';
import type { Database } from '#libs/orm';
import { pipelineJobs } from '#libs/pipeline';
import { createPipelineWorkers, noteDeadJobs, type PipelineExtension } from '#libs/pipeline-worker';
import type { Clock } from '#libs/time';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import type { BotApi } from './bot/bot-api.ts';
import type { ChatRuntime } from './chat/runtime.ts';
import type { AgentsConfig } from './config.ts';
import { agents } from './contract.ts';
import type { MeasuredModel } from './language-model/measured-model.ts';
import { createAgentMemoryJob, createThreadMemoryJob, type EnqueueAgentMemory } from './memory/workers.ts';
import { createPublishingSummary } from './publishing-summary/workers.ts';
import { createIntakeOrder } from './telegram/intake-order.ts';
import { createEchoWorker } from './telegram/workers/echo-update.ts';
import { createChatWorker } from './telegram/workers/work-chat.ts';

const contracts = { getStepConfig: directory.rpcs.getStepConfig, pipelineFinished: conversations.jobs.pipelineFinished };

export interface WorkerDependencies {
  readonly config: AgentsConfig;
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs<typeof agents>;
  readonly clock: Clock;
  readonly bot: BotApi;
  /** Undefined when no language model is configured. */
  readonly runtime: ChatRuntime | undefined;
  readonly model: MeasuredModel | undefined;
  readonly renewAgentMemory: EnqueueAgentMemory;
  readonly pipeline: PipelineExtension | undefined;
}

export function createWorkers({ config, db, bus, jobs, clock, bot, runtime, model, renewAgentMemory, pipeline }: WorkerDependencies) {
  const { LLM_PROMPT_TOKENS: promptTokens, MEMORY_DELAY_MS: delayMs, AGENT_KNOWLEDGE: knowledge } = config;
  const memory = { db, jobs, model, promptTokens, delayMs, knowledge, renewAgentMemory };
  const modelName = config.LLM_SUMMARY_MODEL || config.LLM_MODEL;
  const summary = createPublishingSummary({ bus, clock, model, modelName, promptTokens });
  return {
    workChat: createChatWorker({ db, jobs, bot, runtime, order: createIntakeOrder(bus, agents.consumers.updates.durable) }),
    echoUpdate: createEchoWorker({ db, bot }),
    ...createPipelineWorkers({ bus, jobs, contracts }, [summary, ...(pipeline?.workers ?? [])]),
    threadMemory: createThreadMemoryJob(memory),
    agentMemory: createAgentMemoryJob(memory),
  };
}

export const createOnDead = ({ bus, jobs, pipeline }: Pick<WorkerDependencies, 'bus' | 'jobs' | 'pipeline'>): OnDead =>
  noteDeadJobs({ bus, jobs, contracts }, pipeline?.registry ?? pipelineJobs);
