/** Journey steps and their configuration (rules/steps#step-configuration; D16b). */
import type { Actor } from '#libs/contract';
import { notFound } from '#libs/errors';
import { isJsonObject, parseJson, type JsonObject } from '#libs/json';
import { rawJson, type Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { pipelineJobs, type PipelineJob } from '#libs/pipeline';
import type { directory } from '../contract.ts';
import { applyPatch, checkFreshness, listTouchedPaths, presentConfig } from './rules.ts';
import {
  addConfigAudit,
  findStepByPlace,
  listConfigAudit,
  listSteps,
  lockStepByPlace,
  saveStepConfig,
  type StepConfigRow,
} from './statements.ts';

type StepHandlers = Pick<Handlers<typeof directory>, 'listSteps' | 'readStepConfig' | 'patchStepConfig' | 'listConfigAudit'>;

const defaultAuditEntries = 1_000;

/** @param jobs registered pipeline jobs; tests bring their own. */
export function createStepHandlers(db: Database, jobs: ReadonlyMap<string, PipelineJob> = pipelineJobs): StepHandlers {
  const jobOf = (row: StepConfigRow): PipelineJob | undefined => (row.pipeline_job === null ? undefined : jobs.get(row.pipeline_job));
  const present = (row: StepConfigRow): { config: JsonObject; updated_at: string } => ({
    config: presentConfig(jobOf(row), readStored(row)),
    updated_at: row.updated_at,
  });

  return {
    listSteps: async ({ journey_slug: journey }) => {
      const [row] = await db.query<{ body: string }>(listSteps, [journey]);
      if (row === undefined) throw notFound();
      return rawJson(row.body);
    },
    readStepConfig: async ({ journey_slug: journey, step_slug: step }) => {
      const [row] = await db.query<StepConfigRow>(findStepByPlace, [journey, step]);
      if (row === undefined) throw notFound();
      return present(row);
    },
    patchStepConfig: async ({ journey_slug: journey, step_slug: step, write }, { actor }) =>
      db.transaction(async (tx) => {
        const [row] = await tx.query<StepConfigRow>(lockStepByPlace, [journey, step]);
        if (row === undefined) throw notFound();
        checkFreshness(row.updated_at, write.expected_updated_at);
        const patch = write.config as JsonObject;
        const merged = applyPatch(jobOf(row), readStored(row), patch);
        const [saved] = await tx.query<StepConfigRow>(saveStepConfig, [row.id, JSON.stringify(merged)]);
        await tx.query(addConfigAudit, [row.id, accountOf(actor), 'api', listTouchedPaths(patch)]);
        return present(saved ?? row);
      }),
    listConfigAudit: async ({ journey_slug: journey, step_slug: step, limit = defaultAuditEntries }) => {
      const [row] = await db.query<{ items: string }>(listConfigAudit, [journey, step, limit]);
      if (row === undefined) throw notFound();
      return rawJson(`{"items":${row.items}}`);
    },
  };
}

function readStored({ config }: StepConfigRow): JsonObject {
  const stored = parseJson(config);
  return isJsonObject(stored) ? stored : {};
}

function accountOf(actor: Actor | undefined): number | null {
  return actor?.kind === 'user' ? actor.accountId : null;
}
