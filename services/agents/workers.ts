/** Collects all jobs of the service. */
import type { OnDead } from '#libs/infrastructure/jobs';
import { pipelineJobs } from '#libs/product/pipeline';
import { createPipelineWorkers, noteDeadJobs } from '#libs/product/pipeline-worker';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import type { Dependencies } from './dependencies.ts';
import { createAgentMemoryJob, createThreadMemoryJob } from './memory/workers.ts';
import { createPublishingSummary } from './publishing-summary/workers.ts';
import { createEchoWorker } from './telegram/workers/echo-update.ts';
import { createChatWorker } from './telegram/workers/work-chat.ts';

const contracts = {
  getStepConfig: directory.rpcs.getStepConfig,
  pipelineFinished: conversations.jobs.pipelineFinished,
};

export function createWorkers(deps: Dependencies) {
  return {
    workChat: createChatWorker(deps),
    echoUpdate: createEchoWorker(deps),
    ...createPipelineWorkers({ bus: deps.bus, jobs: deps.jobs, contracts }, [
      createPublishingSummary(deps),
      ...(deps.pipeline?.workers ?? []),
    ]),
    threadMemory: createThreadMemoryJob(deps),
    agentMemory: createAgentMemoryJob(deps),
  };
}

export const createOnDead = ({ bus, jobs, pipeline }: Dependencies): OnDead =>
  noteDeadJobs({ bus, jobs, contracts }, pipeline?.registry ?? pipelineJobs);
