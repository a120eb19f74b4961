/** Generates the examples of the API documents for each operation, from the written story. */
import { routes } from '../../services/api-gateway/routes/index.ts';
import type { OpenApiExamples } from '#libs/infrastructure/http';
import { readStory, showStory, type StoryStep } from './story.ts';

/** Returns the text of services/api-gateway/examples.json. */
export function describeExamples(): string {
  const known = new Set(routes.filter(({ documented }) => documented !== false).map(({ operationId }) => operationId));
  const examples = collectExamples(showStory(readStory()));
  const unknown = Object.keys(examples).filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw new Error(`services/api-gateway/story has operations that are in no document: ${unknown.join(', ')}`);
  return `${JSON.stringify(examples, null, 2)}\n`;
}

/** Returns the examples: the first successful request of an operation, and its first answer of each status. */
export function collectExamples(steps: readonly StoryStep[]): OpenApiExamples {
  return Object.fromEntries(
    [...Map.groupBy(steps, ({ operation }) => operation)].map(([operation, own]) => {
      const { path, query, headers, body } = own.find(({ status }) => status < 400) ?? own[0] ?? {};
      const isFormat = (step: StoryStep): boolean => typeof step.query?.['format'] === 'string' && step.status < 300;
      const answers = own.filter(({ answer }) => answer !== undefined).toReversed();
      const formats = answers.filter(isFormat).map((step) => [String(step.query?.['format']), step.answer]);
      return [
        operation,
        {
          parameters: { ...path, ...query, ...headers },
          ...(body === undefined ? {} : { request: body }),
          replies: Object.fromEntries(
            answers.filter((step) => !isFormat(step)).map(({ status, answer }) => [status, answer]),
          ),
          ...(formats.length === 0 ? {} : { formats: Object.fromEntries(formats) as Record<string, unknown> }),
        },
      ];
    }),
  );
}
