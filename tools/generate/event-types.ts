/** Generates the event types of the TypeScript client from the services' feed declarations (V8). */
import { feedTypes } from '#services/events';
import { describeEvent, nameOf } from '../../services/api-gateway/asyncapi.ts';
import { toComment, toType } from './client-types.ts';

/** Returns the text of clients/typescript/event-types.ts. */
export function describeEventTypes(): string {
  const types = feedTypes.map((event) => {
    const name = `${nameOf(event).replace(/^./, (letter) => letter.toUpperCase())}Event`;
    return { name, event };
  });
  return [
    '/** Written from the contracts by `npm run fix`; change what they declare, not this file. */',
    '',
    ...types.flatMap(({ name, event }) => [
      ...toComment([event.summary], ''),
      `export type ${name} = ${toType(describeEvent(event))};`,
      '',
    ]),
    '/** Something that happened; `type` tells the type of `data`. */',
    'export type PlatformEvent =',
    ...types.map(({ name }) => `  | ${name}`),
    '  ;',
    '',
  ].join('\n');
}
