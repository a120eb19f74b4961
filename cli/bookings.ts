/** `bookings reconcile`: what the booking service has and never came (B1). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { jobAdminRpcs, type ReplyOf } from '#libs/contract';
import { conversations, type ReconcileResult } from '#services/conversations';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { fields } from './output/table.ts';
import { parseTime } from './parse-options.ts';

const pollMs = 500;

export function register(group: Command, context: CliContext): void {
  group
    .command('reconcile')
    .description('Asks Cal.com what it has, and works what is missing as if its webhook had come (CALCOM_API_KEY)')
    .option('--since <time>', 'only bookings that changed then or later; else all', (text: string) => parseTime(text))
    .option('--dry-run', 'count, and change nothing')
    .action(async ({ since, dryRun = false }: { since?: string; dryRun?: boolean }) => {
      const request = { dry_run: dryRun, ...(since === undefined ? {} : { since }) };
      const { job_id: id } = await context.call(conversations.rpcs.reconcileBookings, request);
      const result = await waitFor(context, id);
      const verdict =
        result.missing === 0 ? 'Nothing is missing.' : dryRun ? 'Nothing was changed.' : 'What is missing is worked now: webhooks list';
      context.print(result, fields(result), verdict);
    });
}

/** The job goes on when this program ends. */
async function waitFor(context: CliContext, id: string): Promise<ReconcileResult> {
  const { adminShowJob } = jobAdminRpcs('conversations');
  for (;;) {
    const job: ReplyOf<typeof adminShowJob> = await context.call(adminShowJob, { id });
    if (job.state === 'succeeded') return job.result as ReconcileResult;
    if (job.state === 'dead' || job.state === 'cancelled')
      throw new CliError(`Job ${id} is ${job.state}: ${job.error ?? 'no reason is known'}`);
    await sleep(pollMs);
  }
}
