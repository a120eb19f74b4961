/** Rules for slugs, links, email addresses and rich text. */
export {
  findContactProblem,
  findLinkProblem,
  findSlugProblem,
  isEmail,
  isWebAddress,
  maxAddressLength,
  readRichText,
  requireRichText,
  tooLongAddress,
  webAddressProblem,
} from './rules.ts';
