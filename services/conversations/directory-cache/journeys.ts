/**
 * Converts journeys of the directory to the form in which they are cached, and finds the steps that the pipeline uses
 * (D1, D6, D16a).
 */
import type { ReplyOf } from '#libs/infrastructure/contract';
import type { directory } from '#services/directory';

export interface JourneyStep {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly order: number;
  readonly isArchived: boolean;
  /** Pipeline job to start when a conversation enters the step (rules/steps#pipeline-jobs). */
  readonly pipelineJob: string | null;
}

export interface CachedStep extends JourneyStep {
  /** JSON text `"step_slug":…,"step_title":…` */
  readonly json: string;
  /** JSON text `{"slug":…,"title":…}` */
  readonly searchJson: string;
}

export interface CachedJourney {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly isConversation: boolean;
  readonly ownerEventIds: readonly number[];
  readonly steps: readonly CachedStep[];
  readonly questionIds: ReadonlySet<number>;
  /** Also of archived questions. */
  readonly questionTexts: ReadonlyMap<number, string>;
  /** JSON text `"journey_slug":…,"journey_name":…,"journey_description":…` */
  readonly headJson: string;
  /** JSON text `"texts":…,"questions":…` */
  readonly tailJson: string;
  /** JSON text `{"slug":…,"name":…,"description":…}` */
  readonly searchJson: string;
  /** JSON of JourneyBrowse. */
  readonly browseJson: string;
}

type DirectoryJourney = ReplyOf<typeof directory.rpcs.getJourneys>['items'][number];

const byOrder = (a: JourneyStep, b: JourneyStep): number => a.order - b.order || a.id - b.id;

/** Returns the first active step by (order, id); returns undefined when the journey has no active step. */
export function firstStep(steps: readonly JourneyStep[]): JourneyStep | undefined {
  return steps.filter((step) => !step.isArchived).toSorted(byOrder)[0];
}

/**
 * Returns the next active step after the current one by (order, id), or the first active step when `currentId` is null.
 * Returns undefined after the last step, or when the current step is not in the journey.
 */
export function nextStep(steps: readonly JourneyStep[], currentId: number | null): JourneyStep | undefined {
  if (currentId === null) return firstStep(steps);
  const current = steps.find((step) => step.id === currentId);
  if (current === undefined) return undefined;
  return firstStep(steps.filter((step) => byOrder(step, current) > 0));
}

export function toJourney(item: DirectoryJourney): CachedJourney {
  return {
    id: item.id,
    slug: item.slug,
    name: item.name,
    isConversation: item.is_conversation,
    ownerEventIds: item.owner_event_ids,
    steps: item.steps.map((step) => ({
      id: step.id,
      slug: step.slug,
      title: step.title,
      order: step.order,
      isArchived: step.is_archived,
      pipelineJob: step.pipeline_job,
      json: `"step_slug":${JSON.stringify(step.slug)},"step_title":${JSON.stringify(step.title)}`,
      searchJson: JSON.stringify({ slug: step.slug, title: step.title }),
    })),
    questionTexts: new Map([...item.questions, ...item.archived_questions].map(({ id, text }) => [id, text])),
    questionIds: new Set(item.questions.map((question) => question.id)),
    headJson:
      `"journey_slug":${JSON.stringify(item.slug)},"journey_name":${JSON.stringify(item.name)},` +
      `"journey_description":${JSON.stringify(item.description)}`,
    tailJson:
      `"texts":${JSON.stringify(item.texts)},` +
      `"questions":${JSON.stringify(item.questions.map(({ id, text, order }) => ({ id, text, order })))}`,
    searchJson: JSON.stringify({ slug: item.slug, name: item.name, description: item.description }),
    browseJson: JSON.stringify({
      id: item.id,
      slug: item.slug,
      name: item.name,
      description: item.description,
      texts: item.texts,
    }),
  };
}
