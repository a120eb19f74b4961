/**
 * Handlers of journeys, their steps and the configuration of steps (rules/journeys#journeys,
 * rules/steps#step-configuration; D16b, D47).
 */
import { requireOpsReader } from '#libs/infrastructure/actor';
import { listSome, recordAudit } from '#libs/infrastructure/audit';
import type { Actor } from '#libs/infrastructure/contract';
import { appError, notFound } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject, parseJson } from '#libs/infrastructure/json';
import { type HandlersOf, rawJson } from '#libs/infrastructure/nats';
import { dropUndeclared, type PipelineJob, validateStepConfig } from '#libs/product/pipeline';
import type { Dependencies } from '../dependencies.ts';
import { everyField } from '../api-objects/contract.ts';
import { bodyOf } from '../lists/index.ts';
import { journeyListQuery, type journeyRpcs, journeysPerPage, type stepRpcs, usualConfigAudit } from './contract.ts';
import { applyPatch, checkFreshness, listTouchedPaths, presentConfig } from './rules.ts';
import {
  addConfigAudit,
  findStepBySlugs,
  findStepConfig,
  findSteps,
  getJourney,
  getJourneys,
  listConfigAudit,
  listJourneys,
  listSteps,
  lockJourneyBySlug,
  lockStepBySlugs,
  saveStepConfig,
  type StepConfigRow,
} from './statements.ts';

export function createJourneyHandlers({
  db,
  pipeline,
  history,
}: Pick<Dependencies, 'db' | 'pipeline' | 'history'>): HandlersOf<typeof journeyRpcs & typeof stepRpcs> {
  return {
    ...createStepHandlers({ db, pipeline, history }),
    getJourneys: async ({ ids = [], slugs = [] }) => bodyOf(await getJourneys(db, { ids, slugs })),
    listJourneys: async (request) => {
      const { limit = journeysPerPage, offset = 0, ...filters } = everyField(journeyListQuery, request);
      return bodyOf(await listJourneys(db, { ...filters, limit, offset }));
    },
    getJourney: async ({ slug }) => bodyOf(await getJourney(db, { slug })),
  };
}

export function createStepHandlers({
  db,
  pipeline,
  history,
}: Pick<Dependencies, 'db' | 'pipeline' | 'history'>): HandlersOf<typeof stepRpcs> {
  const jobOf = (row: Pick<StepConfigRow, 'pipeline_job'>): PipelineJob | undefined =>
    row.pipeline_job === null ? undefined : pipeline.get(row.pipeline_job);
  const present = (row: StepConfigRow): { config: JsonObject; updated_at: string } => ({
    config: presentConfig(jobOf(row), readStored(row)),
    updated_at: row.updated_at,
  });

  return {
    findSteps: async ({ slug }) => bodyOf(await findSteps(db, { slug })),
    getStepConfig: async ({ step_id: stepId }) => {
      const row = await findStepConfig(db, { stepId });
      if (row === undefined) throw notFound();
      const config = readStored(row);
      const job = jobOf(row);
      if (job === undefined) return { pipeline_job: row.pipeline_job, config };
      // Keys that the job's schema no longer declares are dropped, so that they do not stop the job; PATCH reports them
      // (D16b).
      const result = validateStepConfig(job, dropUndeclared(job.config, config));
      if (Object.keys(result.problems).length > 0) {
        throw appError(
          'bad_request',
          'invalid_step_config',
          `The configuration of step ${stepId} does not fit ${job.name}.`,
          {
            fields: result.problems,
          },
        );
      }
      return { pipeline_job: job.name, config: result.config };
    },
    listSteps: async ({ journey_slug: journey }) => bodyOf(await listSteps(db, { journey })),
    readStepConfig: async ({ journey_slug: journey, step_slug: step }) => {
      const row = await findStepBySlugs(db, { journey, step });
      if (row === undefined) throw notFound();
      return present(row);
    },
    patchStepConfig: async ({ journey_slug: journey, step_slug: step, write }, context) =>
      db.transaction(async (tx) => {
        const owner = await lockJourneyBySlug(tx, { slug: journey });
        const row = await lockStepBySlugs(tx, { journey, step });
        if (owner === undefined || row === undefined) throw notFound();
        checkFreshness(row.updated_at, write.expected_updated_at);
        const patch = write.config as JsonObject;
        const merged = applyPatch(jobOf(row), readStored(row), patch);
        await history.recordChanges(tx, context, 'journeys', [owner.id]);
        const saved = await saveStepConfig(tx, { id: row.id, config: JSON.stringify(merged) });
        const paths = listTouchedPaths(patch);
        await addConfigAudit(tx, { stepId: row.id, accountId: accountOf(context.actor), source: 'api', paths });
        const isChanged = saved.updated_at !== row.updated_at;
        if (isChanged)
          recordAudit(tx, context, { target: { type: 'step', id: row.id }, changes: listSome(paths, 'paths') });
        return present(saved);
      }),
    listConfigAudit: async ({ journey_slug: journey, step_slug: step, limit = usualConfigAudit }, { actor }) => {
      requireOpsReader(actor);
      const row = await listConfigAudit(db, { journey, step, limit });
      if (row === undefined) throw notFound('The step does not exist.');
      return rawJson(`{"items":${row.items}}`);
    },
  };
}

function readStored({ config }: Pick<StepConfigRow, 'config'>): JsonObject {
  const stored = parseJson(config);
  return isJsonObject(stored) ? stored : {};
}

function accountOf(actor: Actor | undefined): number | null {
  return actor?.kind === 'user' ? actor.accountId : null;
}
