/** Rules for links, email addresses and rich text. */
export {
  findContactProblem,
  findLinkProblem,
  isEmail,
  isWebAddress,
  maxAddressLength,
  readRichText,
  requireRichText,
  tooLongAddress,
  webAddressProblem,
} from './rules.ts';
