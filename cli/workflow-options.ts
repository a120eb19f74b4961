/** Options of memberships and relationships: journey, step, follow-up, responsible person and note. */
import type { Command } from 'commander';
import { parseId } from './parse-options.ts';
import { fileOption } from './write-options.ts';

export interface WorkflowOptions {
  readonly from?: string;
  readonly journey?: string;
  readonly step?: string;
  readonly followUp?: string;
  readonly responsible?: number;
  readonly note?: string;
}

export const withWorkflow = (command: Command): Command =>
  command
    .option('--journey <slug>', 'journey')
    .option('--step <slug>', 'step of the journey')
    .option('--follow-up <day>', 'day of the follow-up, e.g. 2026-05-31')
    .option('--responsible <id>', 'responsible person', parseId)
    .option('--note <text>', 'note')
    .option(...fileOption);

/** Returns the options under the names of the request's fields. */
export const toWorkflow = ({ journey, step, followUp, responsible, note }: Omit<WorkflowOptions, 'from'>) => ({
  journey_slug: journey,
  step_slug: step,
  follow_up_after: followUp,
  responsible_person_id: responsible,
  note,
});
