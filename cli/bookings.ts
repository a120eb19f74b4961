/** `bookings reconcile`: imports bookings whose webhooks were not received (B1). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ReconcileResult } from '#services/conversations';
import { withSince } from './common-options.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { fields } from './output/table.ts';

const pollMs = 500;

export function register(group: Command, context: CliContext): void {
  withSince(group.command('reconcile'), 'only bookings changed')
    .description('Reads bookings from Cal.com and processes the missing ones like webhooks (CALCOM_API_KEY)')
    .option('--dry-run', 'count without changing anything')
    .action(async ({ since, dryRun = false }: { since?: string; dryRun?: boolean }) => {
      const request = { dry_run: dryRun, ...(since === undefined ? {} : { since }) };
      const { job_id: id } = (await context.http((api) => api.reconcileBookings({ body: request }))).body;
      const result = await waitFor(context, id);
      const verdict =
        result.missing === 0
          ? 'Nothing is missing.'
          : dryRun
            ? 'Nothing changed.'
            : 'Processing the missing bookings: see webhooks list';
      context.print(result, fields(result), verdict);
    });
}

/** Waits for the job, which continues when this program is interrupted. */
async function waitFor(context: CliContext, id: string): Promise<ReconcileResult> {
  const path = { service: 'conversations', job_id: id };
  for (;;) {
    const job = (await context.http((api) => api.getJob({ path }))).body;
    if (job.state === 'succeeded') return job.result as ReconcileResult;
    if (job.state === 'dead' || job.state === 'cancelled')
      throw new CliError(`Job ${id} is ${job.state}: ${job.error ?? 'no error recorded'}`);
    await sleep(pollMs);
  }
}
