/** What conversations know of the directory: people, holons and journeys, and which holons a caller sees. */
export { type CachedHolon, type CachedJourney, type CachedPerson, DirectoryCache } from './directory-cache.ts';
export { HolonVisibility } from './holon-visibility.ts';
