# The functions: what they are, what they hear, who may call them, as whom they act.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

# Each told apart from all others.
override_resource {
  target          = google_service_account.identity["api"]
  override_during = plan
  values          = { email = "api@plinth-test.iam.gserviceaccount.com" }
}
override_resource {
  target          = google_service_account.identity["bootstraps"]
  override_during = plan
  values          = { email = "bootstraps@plinth-test.iam.gserviceaccount.com" }
}
override_resource {
  target          = google_service_account.identity["run-cloud-step"]
  override_during = plan
  values          = { email = "run-cloud-step@plinth-test.iam.gserviceaccount.com" }
}
override_resource {
  target          = google_service_account.identity["run-host-step"]
  override_during = plan
  values          = { email = "run-host-step@plinth-test.iam.gserviceaccount.com" }
}
override_resource {
  target          = google_service_account.identity["sweep"]
  override_during = plan
  values          = { email = "sweep@plinth-test.iam.gserviceaccount.com" }
}
override_resource {
  target          = google_service_account.identity["cleanup"]
  override_during = plan
  values          = { email = "cleanup@plinth-test.iam.gserviceaccount.com" }
}
override_resource {
  target          = google_service_account.identity["eventarc"]
  override_during = plan
  values          = { email = "eventarc@plinth-test.iam.gserviceaccount.com" }
}
override_resource {
  target          = google_service_account.identity["scheduler"]
  override_during = plan
  values          = { email = "scheduler@plinth-test.iam.gserviceaccount.com" }
}

variables {
  oauth_clients = ["client.apps.example.com"]
}

run "functions" {
  command = plan

  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.build_config[0].runtime == "nodejs24"])
    error_message = "Google ends nodejs22 in April 2027; nodejs24 a year later."
  }
  assert {
    condition     = alltrue([for name, f in google_cloudfunctions2_function.function : f.build_config[0].source[0].storage_source[0].object == "releases/1.2.3/${name}.zip"])
    error_message = "Each function comes from its own bundle of the release."
  }
  assert {
    condition     = length(distinct([for name, account in google_service_account.identity : account.account_id])) == length(google_cloudfunctions2_function.function) - 1 + 3
    error_message = "Each function but `check` has an identity of its own; so have Scheduler, Eventarc and the builder."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["bootstraps"].service_config[0].timeout_seconds >= 600
    error_message = "An event stream takes nine minutes."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["run-host-step"].service_config[0].max_instance_request_concurrency == 40 && google_cloudfunctions2_function.function["run-host-step"].service_config[0].max_instance_count == 2
    error_message = "Few instances share the connections to a jumpbox."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].timeout_seconds == 540 if length(f.event_trigger) > 0])
    error_message = "A function that hears events has nine minutes."
  }
  assert {
    condition = [for name, f in google_cloudfunctions2_function.function : name if length(f.event_trigger) > 0] == ["run-cloud-step", "run-host-step"] && alltrue([
      for f in google_cloudfunctions2_function.function : alltrue([for t in f.event_trigger : t.retry_policy == "RETRY_POLICY_RETRY" && t.event_type == "google.cloud.pubsub.topic.v1.messagePublished"])
    ])
    error_message = "Both lanes hear messages, with retries."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].ingress_settings == (contains(["api", "bootstraps", "check"], f.name) ? "ALLOW_ALL" : "ALLOW_INTERNAL_ONLY")])
    error_message = "Only the APIs are reached from outside, and `check`, which one function calls."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["api"].service_config[0].environment_variables["PLINTH_AUDIENCES"] == "https://api-123456789012.europe-west4.run.app,client.apps.example.com"
    error_message = "An API takes tokens for its own URL and for the OAuth client."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_RELEASE"] == "1.2.3"])
    error_message = "Whoever asks a function's health is told the release."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : !contains(values(f.service_config[0].environment_variables), "")])
    error_message = "An empty setting is an unset one."
  }

  # What they hear.
  assert {
    condition     = jsonencode({ for lane, topic in google_pubsub_topic.lane : lane => topic.name }) == jsonencode({ cloud = "plinth-cloud-steps", host = "plinth-host-steps" })
    error_message = "One topic a lane."
  }
  assert {
    condition     = alltrue([for topic in google_pubsub_topic.lane : topic.message_retention_duration == "86400s" && topic.message_storage_policy[0].allowed_persistence_regions == toset(["europe-west4"])])
    error_message = "Messages are kept for a day, in the region."
  }

  # Who may call them.
  assert {
    condition = jsonencode({ for key, caller in google_cloud_run_v2_service_iam_member.invoker : key => "${caller.name} by ${caller.member}" }) == jsonencode({
      "api domain:example.com"        = "api by domain:example.com"
      "bootstraps domain:example.com" = "bootstraps by domain:example.com"
      "check bootstraps"              = "check by serviceAccount:bootstraps@plinth-test.iam.gserviceaccount.com"
      "cleanup scheduler"             = "cleanup by serviceAccount:scheduler@plinth-test.iam.gserviceaccount.com"
      "run-cloud-step eventarc"       = "run-cloud-step by serviceAccount:eventarc@plinth-test.iam.gserviceaccount.com"
      "run-host-step eventarc"        = "run-host-step by serviceAccount:eventarc@plinth-test.iam.gserviceaccount.com"
      "sweep scheduler"               = "sweep by serviceAccount:scheduler@plinth-test.iam.gserviceaccount.com"
    })
    error_message = "Nobody else may call a function."
  }
  assert {
    condition     = alltrue([for caller in google_cloud_run_v2_service_iam_member.invoker : caller.role == "roles/run.invoker"])
    error_message = "Callers may call, and no more."
  }
  assert {
    condition = alltrue([
      for f in google_cloudfunctions2_function.function : alltrue([for trigger in f.event_trigger : trigger.service_account_email == "eventarc@plinth-test.iam.gserviceaccount.com"])
      ]) && alltrue([
      for job in google_cloud_scheduler_job.job : job.http_target[0].oidc_token[0].service_account_email == "scheduler@plinth-test.iam.gserviceaccount.com"
    ])
    error_message = "Eventarc and Cloud Scheduler each call as themselves."
  }

  # As whom they act.
  assert {
    condition     = alltrue([for name, f in google_cloudfunctions2_function.function : f.service_config[0].service_account_email == "${name == "check" ? "run-cloud-step" : name}@plinth-test.iam.gserviceaccount.com"])
    error_message = "Each function acts as itself, and `check` as the cloud steps."
  }
  assert {
    condition = alltrue([
      for grants in [
        google_project_iam_member.function, google_pubsub_topic_iam_member.function, google_secret_manager_secret_iam_member.function,
        google_folder_iam_member.function, google_organization_iam_member.function, google_billing_account_iam_member.function,
        google_storage_bucket_iam_member.function, google_project_iam_member.bootstrap_secrets,
      ] : length(grants) > 0 && alltrue([for key, grant in grants : grant.member == "serviceAccount:${split(" ", key)[0]}@plinth-test.iam.gserviceaccount.com"])
    ])
    error_message = "A function's grants are its own."
  }
  assert {
    condition     = length(setsubtract([for grant in google_project_iam_member.function : grant.role], ["roles/datastore.user", "projects/plinth-test/roles/ourOwn"])) == 0
    error_message = "In the whole project a function has the documents and what roles of plinth's own hold; all else it has on single things."
  }
}
