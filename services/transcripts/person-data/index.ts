/** People who are gone, for what stores words. */
export { leaveGonePeople } from './gone.ts';
