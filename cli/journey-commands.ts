/** `journeys list|show` over HTTP (rules/cli#admin-cli). */
import type { Command } from 'commander';
import type { GetJourneyReply, ListJourneysReply } from '../clients/typescript/operations.ts';
import { type OffsetPage, withOffsetPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { fields, table } from './output/table.ts';
import { describeNext } from './pages.ts';

type Listed = ListJourneysReply['body']['items'][number];
type Step = GetJourneyReply['body']['steps'][number];

const columns = {
  SLUG: ({ slug }: Listed) => slug,
  NAME: ({ name }: Listed) => name,
  KIND: ({ object_kind: kind }: Listed) => kind,
  'APPLIES TO': ({ applies_to_slug: slug }: Listed) => slug,
  CONVERSATION: ({ is_conversation: isConversation }: Listed) => isConversation,
  STEPS: ({ step_count: count }: Listed) => count,
};

const stepColumns = {
  STEP: ({ slug }: Step) => slug,
  TITLE: ({ title }: Step) => title,
  ARCHIVED: ({ is_archived: isArchived }: Step) => isArchived,
};

export function registerJourneyCommands(journeys: Command, context: CliContext): void {
  withOffsetPages(journeys.command('list').description('Lists journeys'), 'journeys', { max: 200 })
    .option('--q <text>', 'only journeys whose name or slug contains this text')
    .action(async ({ q, ...page }: OffsetPage & { q?: string }) => {
      const query = { limit: page.limit, offset: page.cursor, ...(q === undefined ? {} : { q }) };
      const { items, has_more: hasMore } = (await context.http((api) => api.listJourneys({ query }))).body;
      const next = hasMore ? String(page.cursor + items.length) : null;
      context.print(items, table(items, columns, 'No journeys.'), ...describeNext({ next }));
    });

  journeys
    .command('show <slug>')
    .description('Shows a journey with its steps')
    .action(async (slug: string) => {
      const journey = (await context.http((api) => api.getJourney({ path: { slug } }), `journey ${slug}`)).body;
      context.print(
        journey,
        fields({
          id: journey.id,
          slug: journey.slug,
          name: journey.name,
          description: journey.description,
          kind: journey.object_kind,
          'applies to': journey.applies_to_slug,
          conversation: journey.is_conversation,
          public: journey.public_visible,
        }),
        '',
        table(journey.steps, stepColumns, 'No steps.'),
      );
    });
}
