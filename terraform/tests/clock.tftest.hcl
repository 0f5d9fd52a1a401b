# What is called by the clock.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

run "clock" {
  command = plan

  assert {
    condition     = google_cloud_scheduler_job.job["sweep"].schedule == "* * * * *" && google_cloud_scheduler_job.job["cleanup"].schedule == "*/5 * * * *"
    error_message = "Sweep each minute, cleanup every five."
  }
  assert {
    condition     = alltrue([for job in google_cloud_scheduler_job.job : job.http_target[0].uri == job.http_target[0].oidc_token[0].audience && job.http_target[0].http_method == "POST"])
    error_message = "A job's token is made for the full URL."
  }
  assert {
    condition     = alltrue([for name, job in google_cloud_scheduler_job.job : job.http_target[0].uri == "https://${name}-123456789012.europe-west4.run.app"])
    error_message = "A job calls the function of its name."
  }
  assert {
    condition     = alltrue([for name, job in google_cloud_scheduler_job.job : job.http_target[0].oidc_token[0].audience == google_cloudfunctions2_function.function[name].service_config[0].environment_variables["PLINTH_AUDIENCES"]])
    error_message = "A job's token is made for the function that it calls, and for nothing else."
  }
  assert {
    condition     = alltrue([for name, job in google_cloud_scheduler_job.job : job.attempt_deadline == "${google_cloudfunctions2_function.function[name].service_config[0].timeout_seconds}s" && job.retry_config[0].retry_count == 0])
    error_message = "A job waits as long as its function may take, and then for its next time."
  }
}
