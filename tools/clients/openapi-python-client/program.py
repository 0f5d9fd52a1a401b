"""Uses both APIs through what openapi-python-client made of their documents. Prints what it saw as one line of JSON."""

import json
import os
import re

from generated.bootstraps.api.bootstraps import get_bootstrap, list_bootstraps
from generated.bootstraps.api.files import get_config
from generated.bootstraps.client import AuthenticatedClient as BootstrapsClient
from generated.organizations.api.migration import migrate_team
from generated.organizations.api.organizations import create_organization, list_organizations
from generated.organizations.api.teams import add_team_member, create_team, get_team, list_teams
from generated.organizations.client import AuthenticatedClient as OrganizationsClient
from generated.organizations.models import Migration, NewMember, NewOrganization, NewTeam
from generated.organizations.types import UNSET

TOKEN = os.environ["TOKEN"]
organizations = OrganizationsClient(base_url=os.environ["ORGANIZATIONS_URL"], token=TOKEN)
bootstraps = BootstrapsClient(base_url=os.environ["BOOTSTRAPS_URL"], token=TOKEN)


def good(response):
    """What the generated code read of an answer."""
    if response.parsed is None:
        raise RuntimeError(f"{response.status_code}: {response.content.decode()}")
    return response.parsed


def outsiders():
    """Makes a team that may not move, and tells who is in the way. The generator reads no problem, so the text is read here."""
    organization = good(create_organization.sync_detailed(client=organizations, body=NewOrganization(name="by a client")))
    team = good(create_team.sync_detailed(client=organizations, body=NewTeam(name="first")))
    zoe = NewMember(email="zoe@example.org")
    member = good(
        add_team_member.sync_detailed(team.team_id, client=organizations, body=zoe, idempotency_key="add-zoe")
    )
    refused = migrate_team.sync_detailed(
        team.team_id, client=organizations, body=Migration(organization_id=organization.id)
    )
    problem = json.loads(refused.content)
    if refused.status_code != 400 or problem["code"] != "members-outside":
        raise RuntimeError(refused.content.decode())
    return [*problem["members"], member.role.value]


def all_teams():
    """By number, a page at a time."""
    for name in ["second", "third"]:
        good(create_team.sync_detailed(client=organizations, body=NewTeam(name=name)))
    names, cursor = [], UNSET
    while True:
        page = list_teams.sync_detailed(client=organizations, limit=1, cursor=cursor)
        names += [team.name for team in good(page)]
        following = re.search(r"[?&]cursor=([^&>]+)[^>]*>; rel=\"next\"", page.headers.get("link", ""))
        if following is None:
            return sorted(names)
        cursor = following[1]


def first_bootstrap():
    """The generator reads a summary and the config; what it leaves out of a bootstrap is read here."""
    summary = good(list_bootstraps.sync_detailed(client=bootstraps, limit=5))[0]
    bootstrap = json.loads(get_bootstrap.sync_detailed(summary.id, client=bootstraps).content)
    config = get_config.sync_detailed(summary.id, client=bootstraps)
    return {
        "datacenters": [f"{summary.name} {each['key']}" for each in bootstrap["result"]["datacenters"]],
        "state": summary.state.value,
        "config": good(config).strip(),
    }


unknown = get_team.sync_detailed(1, client=organizations)
print(
    json.dumps(
        {
            "unknown": json.loads(unknown.content)["code"],
            "outsiders": outsiders(),
            "teams": all_teams(),
            "organizations": [
                f"{each.name}: {each.role.value}"
                for each in good(list_organizations.sync_detailed(client=organizations))
            ],
            "bootstrap": first_bootstrap(),
        }
    )
)
