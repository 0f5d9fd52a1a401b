# What a plan holds, against the provider's schema; nothing is made. `terraform test`.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

variables {
  project_id       = "plinth-test"
  deployment       = "test"
  release          = "1.2.3"
  release_bucket   = "plinth-test-releases"
  invokers         = ["domain:example.com"]
  parents          = ["folders/111", "organizations/222"]
  billing_accounts = ["0123AB-4567CD-89EF01"]
  machine_access   = "iap"
  dns_zones        = ["shared-dns/zone-a", "shared-dns/zone-b"]
  oauth_clients    = ["client.apps.example.com"]
  operators        = ["operator@example.com"]
}

run "config" {
  command = plan

  assert {
    condition     = yamldecode(output.config_yaml).oauth.clientId == "client.apps.example.com" && yamldecode(output.config_yaml).endpoints.bootstraps == "https://bootstraps-123456789012.europe-west4.run.app"
    error_message = "The command line's config file says where plinth is and by which client people log in."
  }
}

run "releases" {
  command = plan

  assert {
    condition     = output.releases_url == "gs://plinth-test-releases/releases" && alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_RELEASES_URL"] == output.releases_url])
    error_message = "Jumpboxes fetch plinth from where the build puts it."
  }
  assert {
    condition     = length(google_storage_bucket_iam_member.releases) == 2 && alltrue([for grant in google_storage_bucket_iam_member.releases : grant.bucket == "plinth-test-releases" && grant.condition[0].expression == "resource.name.startsWith(\"projects/_/buckets/plinth-test-releases/objects/releases/\") && resource.name.endsWith(\"/plinth-linux-amd64\")"])
    error_message = "Of the bucket of releases, functions read executables alone."
  }
  assert {
    condition     = alltrue([for name, f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_SERVICE_ACCOUNT"] == f.service_config[0].service_account_email])
    error_message = "A function knows its account: signed URLs name their signer."
  }
}

run "releases_elsewhere" {
  command = plan

  variables {
    settings = { PLINTH_RELEASES_URL = "https://releases.example.com/plinth/" }
  }

  assert {
    condition     = output.releases_url == "https://releases.example.com/plinth"
    error_message = "A build looks where machines fetch plinth, before it applies."
  }
  assert {
    condition     = output.releases_sha256 == ""
    error_message = "Which file that is, the release knows."
  }
  assert {
    condition     = length(google_storage_bucket_iam_member.releases) == 0
    error_message = "A mirror needs no right."
  }
}

run "another_executable_by_a_setting" {
  command = plan

  variables {
    settings = { PLINTH_RELEASE_SHA256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" }
  }

  assert {
    condition     = output.releases_sha256 == "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    error_message = "A build hears of a setting that wins over what the functions know."
  }
}

run "releases_without_machines" {
  command = plan

  variables {
    settings = { PLINTH_RELEASES_URL = "https://releases.example.com/plinth/", PLINTH_HOSTS = "off" }
  }

  assert {
    condition     = output.releases_url == ""
    error_message = "Where no machines are set up, nothing is fetched."
  }
}

run "a_setting_that_there_is" {
  command = plan
  variables { settings = { PLINTH_LIVING_PER_OWNER = "5" } }

  assert {
    condition     = google_cloudfunctions2_function.function["bootstraps"].service_config[0].environment_variables["PLINTH_LIVING_PER_OWNER"] == "5"
    error_message = "Settings reach the functions."
  }
}

run "ceilings" {
  command = plan
  variables { ceilings = { hour = 5, month = 1999.5 } }

  assert {
    condition = alltrue([
      for name, amount in { PLINTH_USD_PER_HOUR = "5", PLINTH_USD_PER_MONTH = "1999.5" } :
      google_cloudfunctions2_function.function["bootstraps"].service_config[0].environment_variables[name] == amount
    ]) && !contains(keys(google_cloudfunctions2_function.function["bootstraps"].service_config[0].environment_variables), "PLINTH_USD_PER_MONTH_OWNER")
    error_message = "Ceilings reach the functions, and what is not given is no setting."
  }

  assert {
    condition     = google_cloudfunctions2_function.function["sweep"].service_config[0].environment_variables["PLINTH_BEYOND_CEILING"] == "warn"
    error_message = "Beyond a ceiling people are warned, unless VMs are to be stopped."
  }
}

run "pools" {
  command = plan
  variables { pools = [{ parent = "folders/111", billingAccount = "0123AB-4567CD-89EF01", region = "europe-west4", size = 5 }] }

  assert {
    condition = alltrue([
      for name in ["bootstraps", "sweep"] :
      jsondecode(google_cloudfunctions2_function.function[name].service_config[0].environment_variables["PLINTH_POOLS"]) == jsondecode("[{\"parent\":\"folders/111\",\"billingAccount\":\"0123AB-4567CD-89EF01\",\"region\":\"europe-west4\",\"size\":5}]")
    ])
    error_message = "Pools reach the functions, and what is not given is no part of them."
  }
}

run "sizes" {
  command = plan
  variables { sizes = { api = { min_instances = 1, memory = "1Gi" } } }

  assert {
    condition     = google_cloudfunctions2_function.function["api"].service_config[0].min_instance_count == 1 && google_cloudfunctions2_function.function["api"].service_config[0].available_memory == "1Gi" && google_cloudfunctions2_function.function["api"].service_config[0].max_instance_count == 8
    error_message = "What is given changes, what is not stays."
  }
}

run "a_budget" {
  command = plan
  variables { budget = { billing_account = "0123AB-4567CD-89EF01", own = 50, bootstraps = 500 } }

  assert {
    condition     = google_billing_budget.monthly["bootstraps"].amount[0].specified_amount[0].units == "500" && google_billing_budget.monthly["bootstraps"].budget_filter[0].resource_ancestors != null
    error_message = "The projects of bootstraps have a budget by their parents."
  }
}

run "no_budget" {
  command = plan

  assert {
    condition     = length(google_billing_budget.monthly) == 0
    error_message = "Budgets are for who asks for them."
  }
}

run "no_traces" {
  command = plan

  assert {
    condition     = length(google_project_iam_member.traces) == 0 && !contains(keys(google_project_service.api), "telemetry")
    error_message = "Who sends no traces needs neither role nor API for it."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : !anytrue([for name in keys(f.service_config[0].environment_variables) : startswith(name, "OTEL_")])])
    error_message = "Traces are off unless they are asked for."
  }
}

run "traces" {
  command = plan
  variables { traces = true }

  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == "https://telemetry.googleapis.com"])
    error_message = "All functions send their traces to Cloud Trace."
  }
  assert {
    condition     = keys(google_project_iam_member.traces) == keys(google_cloudfunctions2_function.function) && alltrue([for grant in google_project_iam_member.traces : grant.role == "roles/telemetry.tracesWriter"])
    error_message = "Each function may send traces, and no more."
  }
  assert {
    condition     = alltrue([for service in ["telemetry", "cloudtrace"] : contains(keys(google_project_service.api), service)])
    error_message = "Google drops what is sent where the Cloud Trace API is not enabled."
  }
}

run "traces_elsewhere" {
  command = plan
  variables { settings = { OTEL_EXPORTER_OTLP_ENDPOINT = "https://collector.example.com" } }

  assert {
    condition     = google_cloudfunctions2_function.function["sweep"].service_config[0].environment_variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == "https://collector.example.com" && length(google_project_iam_member.traces) == 0
    error_message = "A collector of one's own needs no role."
  }
}
