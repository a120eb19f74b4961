/** Steps of a journey as the pipeline sees them (D1, D6, D16a). */

export interface JourneyStep {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly order: number;
  readonly isArchived: boolean;
  /** Registered pipeline job that is started when a conversation enters the step (rules/steps#pipeline-jobs). */
  readonly pipelineJob: string | null;
}

const byOrder = (a: JourneyStep, b: JourneyStep): number => a.order - b.order || a.id - b.id;

/** The first active step by (order, id); undefined when the journey has none. */
export function firstStep(steps: readonly JourneyStep[]): JourneyStep | undefined {
  return steps.filter((step) => !step.isArchived).toSorted(byOrder)[0];
}

/**
 * The next step that is not archived, after the current one by (order, id); undefined at the end, or when the current step does
 * not belong to the journey. Without a current step it is the first one.
 */
export function nextStep(steps: readonly JourneyStep[], currentId: number | null): JourneyStep | undefined {
  if (currentId === null) return firstStep(steps);
  const current = steps.find((step) => step.id === currentId);
  if (current === undefined) return undefined;
  return firstStep(steps.filter((step) => byOrder(step, current) > 0));
}
