/** Settings of organizations: who may make one, and whether a team must agree to its migration. */
import { domains, onOrOff, optional, type Rows, setting, type Values } from '../setting.js';

export const organizationSettings = {
  PLINTH_ORGANIZATION_CREATORS: setting(
    domains,
    'Workspace domains (the `hd` claim) whose people may make organizations; `anyone`: every caller. Unset: operators only.',
    '',
  ),
  PLINTH_MIGRATION_CONSENT: optional(
    onOrOff,
    'Whether migrating a team takes the consent of an admin of the team. `off`: any admin of an organization may migrate a team there that has no living projects. Unset: `on` where others than operators may make organizations (`PLINTH_ORGANIZATION_CREATORS`), else `off`.',
  ),
} satisfies Rows;

export interface OrganizationsConfig {
  /** Who may make organizations. If neither is set, only operators may. `domains` are compared with the `hd` claim. */
  readonly organizationCreators: { readonly anyone: boolean; readonly domains: readonly string[] };
  /** True: a migration needs an admin of the team, besides one of the organization. A team with living projects always does. */
  readonly migrationConsent: boolean;
}

export const readOrganizations = ({
  PLINTH_ORGANIZATION_CREATORS: creators,
  PLINTH_MIGRATION_CONSENT: consent,
}: Values<typeof organizationSettings>): OrganizationsConfig => ({
  organizationCreators: {
    anyone: creators.includes('anyone'),
    domains: creators.filter((each) => each !== 'anyone'),
  },
  // Whoever makes an organization is its admin. Without consent, its admins could take any team.
  migrationConsent: consent === undefined ? creators.length > 0 : consent === 'on',
});
