/** Members as text and tables for people. */
import type { Member } from '../../shared/organization/organization.js';
import { printable, type Style } from '../frame/output.js';
import { listing } from '../frame/table.js';

export const memberTable = (members: readonly Member[], style: Style): string =>
  members.length === 0
    ? 'No members.'
    : listing(
        ['E-MAIL', 'ROLE'],
        members.map(({ email, role }) => [email, role]),
        style,
      );

/** `bob@example.com is now an admin` */
export const roleText = ({ email, role }: Member): string => `${printable(email)} is now ${withArticle(role)}`;

export const addedText = (member: Member, added: boolean, of: string): string =>
  added
    ? `${roleText(member)} of ${of}.`
    : `${printable(member.email)} was ${withArticle(member.role)} of ${of} already; nothing changes.`;

const withArticle = (role: Member['role']): string => (role === 'admin' ? 'an admin' : 'a member');
