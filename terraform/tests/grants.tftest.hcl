# What functions may do: by their roles on zones, on secrets, and on the project.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

variables {
  dns_zones = ["shared-dns/zone-a", "shared-dns/zone-b"]
}

run "grants" {
  command = plan

  assert {
    condition = join(", ", keys(google_dns_managed_zone_iam_member.function)) == "run-cloud-step roles/dns.admin shared-dns/zone-a, run-cloud-step roles/dns.admin shared-dns/zone-b" && alltrue([
      for grant in google_dns_managed_zone_iam_member.function : grant.project == "shared-dns" && startswith(grant.managed_zone, "zone-")
    ])
    error_message = "One grant a zone, on that zone alone."
  }
  assert {
    condition     = length(google_project_iam_member.dns) == 0
    error_message = "No project of zones is granted as a whole, unless it is asked for."
  }
  assert {
    condition = length(google_project_iam_member.bootstrap_secrets) > 0 && alltrue([
      for grant in google_project_iam_member.bootstrap_secrets : one(grant.condition[*].expression) == "resource.name.startsWith(\"projects/123456789012/secrets/b\")"
    ])
    error_message = "Secrets of bootstraps are granted by their names, and no others with them."
  }
  assert {
    condition     = alltrue([for name in values(output.names.secrets) : !startswith(name, output.names.bootstrapIdPrefix)])
    error_message = "A secret of the deployment passes for one of bootstraps."
  }
  assert {
    condition     = length(setintersection([for g in google_project_iam_member.function : g.role], ["roles/owner", "roles/editor", "roles/datastore.owner"])) == 0
    error_message = "No function owns the project."
  }
}

run "a_project_of_zones" {
  command = plan
  variables {
    dns_zones    = ["shared-dns/zone-a", "made-dns/zone-b", "made-dns/zone-c"]
    dns_projects = ["made-dns"]
  }

  assert {
    condition     = join(", ", keys(google_project_iam_member.dns)) == "run-cloud-step roles/dns.admin made-dns" && join(", ", keys(google_dns_managed_zone_iam_member.function)) == "run-cloud-step roles/dns.admin shared-dns/zone-a"
    error_message = "Where zones may be made the project has the grant, and its zones have none."
  }
}

run "no_zone" {
  command = plan
  variables { dns_zones = [] }

  assert {
    condition     = length(google_dns_managed_zone_iam_member.function) + length(google_project_iam_member.dns) == 0
    error_message = "Without shared zones there is no role outside of what bootstraps make."
  }
}
