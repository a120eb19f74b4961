/** Options of memberships and relationships: their place on a journey. */
import type { Command } from 'commander';
import { parseId } from './parse-options.ts';
import { fileOption } from './write-options.ts';

export interface PlaceOptions {
  readonly from?: string;
  readonly journey?: string;
  readonly step?: string;
  readonly followUp?: string;
  readonly responsible?: number;
  readonly note?: string;
}

export const withPlace = (command: Command): Command =>
  command
    .option('--journey <slug>', 'journey')
    .option('--step <slug>', 'step of the journey')
    .option('--follow-up <day>', 'day of the follow-up, e.g. 2026-05-31')
    .option('--responsible <id>', 'responsible person', parseId)
    .option('--note <text>', 'note')
    .option(...fileOption);

/** Returns the options under the names of the request's fields. */
export const toPlace = ({ journey, step, followUp, responsible, note }: Omit<PlaceOptions, 'from'>) => ({
  journey_slug: journey,
  step_slug: step,
  follow_up_after: followUp,
  responsible_person_id: responsible,
  note,
});
